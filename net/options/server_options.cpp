// SPDX-License-Identifier: BSL-1.0
// server_options: what may not be.
#include "server_options.hpp"
#include "../../base/work/spin_budget.hpp"

#include <algorithm>
#include <string>

namespace quintet {
namespace {

/// Port 0 is another port each time.
bool same_place(const listen_options& a, const listen_options& b) {
  if (a.descriptor >= 0 || b.descriptor >= 0) return a.descriptor == b.descriptor;
  const address at(a.at);
  return at == address(b.at) && !(at.is_ip() && at.port() == 0);
}

}  // namespace

void validate(const server_options& options) {
  const auto& all = options.listen;
  for (const listen_options& l : all) validate(l);
  if (std::ranges::all_of(all, &listen_options::priority))
    throw config_error("listen: it names no address for ordinary connections, and must have at least one");
  for (auto a = all.begin(); a != all.end(); ++a)
    if (std::any_of(a + 1, all.end(), [&](const listen_options& b) { return same_place(*a, b); }))
      throw config_error("listen: " + (a->descriptor >= 0 ? "descriptor " + std::to_string(a->descriptor) : a->at) +
                         " is there twice");
  validate(options.accepting);
  validate(options.priority);
  validate(options.heartbeat);
  validate(options.rebalance);
  validate(options.limits);
  validate(options.stalls);
  validate(options.engine);
  validate(loop_options_of(options), options.max_output_total);
  if (options.busy_poll < options.busy_poll.zero() || options.busy_poll > spin_budget::longest)
    throw config_error("busy_poll: " + std::to_string(options.busy_poll.count()) +
                       " us is not allowed, it must be at most 100000 us and not negative");
}

}  // namespace quintet
