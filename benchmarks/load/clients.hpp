// SPDX-License-Identifier: BSL-1.0
// clients.hpp: the kinds of client threads.
#pragma once

#include "load/control.hpp"

#include <memory>

namespace quintet::bench {

/// One thread of the epoll client: connections `first`, `first + step`, ... of all, each open for the whole run.
std::unique_ptr<worker> make_epoll_client(control& c, unsigned first, unsigned step);
/// The same for short connections: one request each.
std::unique_ptr<worker> make_short_client(control& c, unsigned first, unsigned step);
/// One blocking thread with one connection, number `index`; or one short connection after the other.
std::unique_ptr<worker> make_blocking_client(control& c, unsigned index);
/// The probe: a heartbeat every 10 ms, latencies from the time it was due.
std::unique_ptr<worker> make_heartbeat(control& c);

}  // namespace quintet::bench
