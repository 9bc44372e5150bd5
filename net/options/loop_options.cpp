// SPDX-License-Identifier: BSL-1.0
// loop_options: what cannot be is refused.
#include "loop_options.hpp"

#include "../../base/work/spin_budget.hpp"
#include "require.hpp"

namespace quintet {

void validate(const loop_tuning& tuning, std::size_t max_output_total) {
  spin_budget::validate(tuning.spin);
  detail::require_value(tuning.static_output <= max_output_total, "static_output", tuning.static_output,
                        "at most max_output_total, " + std::to_string(max_output_total));
}

}  // namespace quintet
