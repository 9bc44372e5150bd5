// SPDX-License-Identifier: BSL-1.0
// server_options: what may not be.
#include "server_options.hpp"

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
  if (!all.empty() && std::ranges::all_of(all, &listen_options::priority))
    throw config_error("listen has no address for ordinary connections; it must have at least one");
  for (auto a = all.begin(); a != all.end(); ++a)
    if (std::any_of(a + 1, all.end(), [&](const listen_options& b) { return same_place(*a, b); }))
      throw config_error("listen has " + (a->descriptor >= 0 ? "descriptor " + std::to_string(a->descriptor) : a->at) +
                         " twice; each address must occur only once");
  validate(options.engine);
  validate(options.limits);
  validate(options.accepting);
  validate(options.advanced, options.memory.max_output_total);
}

}  // namespace quintet
