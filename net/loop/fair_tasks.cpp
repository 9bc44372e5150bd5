// SPDX-License-Identifier: BSL-1.0
// fair_tasks: runs the quanta of a turn. Not inline: few turns have any (benchmarks/budget).
#include "fair_tasks.hpp"

namespace quintet {

bool fair_tasks::run_fair_tasks() noexcept {
  unsigned count = 0;
  for (; count < quanta_per_turn && can_run() && (count == 0 || has_quota()); ++count) {
    fair_task& next = queue_.front();
    queue_.pop_front();
    next.run_quantum();
  }
  return count > 0;
}

}  // namespace quintet
