// SPDX-License-Identifier: BSL-1.0
// bus_options: rejects invalid options.
#include "bus_options.hpp"

#include "../../net/options/require.hpp"

#include <string>

namespace quintet {

void validate(const bus_options& o) {
  using detail::require_value;
  constexpr std::size_t largest_message = std::size_t{16} * 1024 * 1024, largest_queue = std::size_t{1} << 30U;
  require_value(o.id != 0, "id", o.id, "not 0");
  require_value(o.max_message >= 1 && o.max_message <= largest_message, "max_message", o.max_message,
                "from 1 to " + std::to_string(largest_message));
  require_value(o.max_unacknowledged >= 2 * o.max_message && o.max_unacknowledged <= largest_queue,
                "max_unacknowledged", o.max_unacknowledged,
                "from 2 * max_message, " + std::to_string(2 * o.max_message) + ", to " + std::to_string(largest_queue));
  require_value(o.max_posted >= o.max_message + 64, "max_posted", o.max_posted, "at least max_message + 64");
  require_value(o.max_peers >= 1, "max_peers", o.max_peers, "at least 1");
  require_value(o.max_checksum_errors >= 1, "max_checksum_errors", o.max_checksum_errors, "at least 1");
  require_value(o.upgrade_interval > duration::zero(), "upgrade_interval", o.upgrade_interval, "above 0");
  require_value(o.unreachable_after > duration::zero(), "unreachable_after", o.unreachable_after, "above 0");
  require_value(o.receipt_timeout > duration::zero(), "receipt_timeout", o.receipt_timeout, "above 0");
  require_value(o.connecting.timeout > duration::zero(), "connecting.timeout", o.connecting.timeout, "above 0");
  validate(o.connecting);
  validate(o.reconnect);
}

}  // namespace quintet
