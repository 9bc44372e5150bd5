// SPDX-License-Identifier: BSL-1.0
// make_watchdog: whether a server has a stall watchdog.
#pragma once

#include "../connection/connection_host.hpp"
#include "../options/server_options.hpp"
#include "../watch/stall_watchdog.hpp"

#include <memory>

namespace quintet {

/// Nothing, unless there is a bound, and a hook or a log to tell. The host outlives it.
[[nodiscard]] std::unique_ptr<stall_watchdog> make_watchdog(const server_options& options, connection_host& host);

}  // namespace quintet
