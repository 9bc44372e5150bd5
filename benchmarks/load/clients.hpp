// SPDX-License-Identifier: BSL-1.0
// clients.hpp: the kinds of client threads.
#pragma once

#include "load/control.hpp"

#include <memory>

namespace quintet::bench {

/// Makes a thread of the epoll client. It has connections `first`, `first + step`, ..., each open for the whole run.
std::unique_ptr<worker> make_epoll_client(control& c, unsigned first, unsigned step);
/// Makes a thread of the epoll client for short connections, with one request each.
std::unique_ptr<worker> make_short_client(control& c, unsigned first, unsigned step);
/// Makes a thread of the client over shared memory. Its connections are numbered like those of the epoll client.
std::unique_ptr<worker> make_shm_client(control& c, unsigned first, unsigned step);
/// Makes a blocking thread with connection number `index`, or with a series of short connections.
std::unique_ptr<worker> make_blocking_client(control& c, unsigned index);
/// Makes the probe: it sends a heartbeat every 10 ms. Its latencies count from the scheduled time.
std::unique_ptr<worker> make_heartbeat(control& c);

}  // namespace quintet::bench
