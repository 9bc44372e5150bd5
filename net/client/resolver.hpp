// SPDX-License-Identifier: BSL-1.0
// resolver: looks up the addresses of a host name without blocking a loop.
#pragma once

#include "name_lookups.hpp"

#include <functional>
#include <string>
#include <vector>

namespace quintet {

/// Waits for a look-up of detail::name_lookups. Look-ups run side by side, at most loop_tuning::max_lookups at once.
class resolver {
 public:
  /// Gets the addresses, or why there are none.
  using done_function = std::function<void(error_code failed, const std::vector<address>& found)>;

  /// [loop] Starts the lookup. `done` is called once on the loop, later, unless the resolver is destroyed before.
  /// Throws if the system refuses a thread or memory.
  resolver(event_loop& loop, const std::string& host, const std::string& port, done_function done,
           detail::name_lookups& with = detail::name_lookups::of_process());
  /// [loop] Cancels. Does not wait for a look-up in progress, which ends unheard.
  ~resolver();
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

 private:
  struct request;

  detail::name_lookups& lookups_;
  request* request_;  // null once answered; owns itself while it is in the loop's inbox
};

}  // namespace quintet
