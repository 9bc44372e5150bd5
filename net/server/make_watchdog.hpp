// SPDX-License-Identifier: BSL-1.0
// make_watchdog: makes a server's stall watchdog, if the options need one.
#pragma once

#include "../connection/connection_host.hpp"
#include "../options/server_options.hpp"
#include "../watch/stall_watchdog.hpp"

#include <memory>

namespace quintet {

/// Returns nullptr without a bound, without a hook and a log, or if the clock is not the system's. Otherwise also sets
/// host.watchdog. The host must outlive the watchdog.
[[nodiscard]] std::unique_ptr<stall_watchdog> make_watchdog(const server_options& options, connection_host& host);

}  // namespace quintet
