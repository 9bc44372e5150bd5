// SPDX-License-Identifier: BSL-1.0
// advanced_options: validation.
#include "advanced_options.hpp"

#include "../../base/work/spin_budget.hpp"
#include "require.hpp"

namespace quintet {

void validate(const advanced_options& o, std::size_t max_output_total) {
  validate(o.priority);
  validate(o.heartbeat);
  validate(o.rebalance);
  validate(o.stalls);
  validate(o.loop, max_output_total);
  detail::require(o.busy_poll >= o.busy_poll.zero() && o.busy_poll <= spin_budget::longest, "busy_poll",
                  "is " + std::to_string(o.busy_poll.count()) + " us; it must be from 0 to 100000 us");
}

}  // namespace quintet
