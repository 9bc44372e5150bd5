// SPDX-License-Identifier: BSL-1.0
// loop_options: what cannot be is refused.
#include "loop_options.hpp"
#include "../../base/error.hpp"
#include "../../base/work/spin_budget.hpp"

#include <string>

namespace quintet {

void validate(const loop_options& options, std::size_t max_output_total) {
  spin_budget::validate(options.spin);
  if (options.static_output > max_output_total)
    throw config_error("static_output: " + std::to_string(options.static_output) +
                       " is not allowed, it must be at most max_output_total, " + std::to_string(max_output_total));
}

}  // namespace quintet
