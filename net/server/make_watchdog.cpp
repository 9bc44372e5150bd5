// SPDX-License-Identifier: BSL-1.0
// make_watchdog: checks whether the options need a watchdog, and makes it.
#include "make_watchdog.hpp"

namespace quintet {

std::unique_ptr<stall_watchdog> make_watchdog(const server_options& options, connection_host& host) {
  // A program that moves the clock by hand may halt the thread for any time.
  if (options.advanced.stalls.bound == duration::zero() || options.time != &clock::system()) return nullptr;
  auto made = std::make_unique<stall_watchdog>(
      options.advanced.stalls, host.log, [&all = host.registry](const connection_id& id) { return all.peer_of(id); });
  host.watchdog = made.get();
  return made;
}

}  // namespace quintet
