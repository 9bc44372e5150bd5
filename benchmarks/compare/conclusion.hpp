// SPDX-License-Identifier: BSL-1.0
// conclusion.hpp: the end of a measuring command: output and exit status.
#pragma once

#include <functional>

#include "compare/compare.hpp"

namespace quintet::bench {

struct rendering {
  std::function<std::string(const comparison&)> table;
  std::function<boost::json::object(const comparison&)> document;
  std::function<std::string(const comparison&)> page;  // empty for a command without --html
};

// Prints and writes the results. Returns 130 after Ctrl-C, 1 if runs failed or lost requests, else 0.
int conclude(const compare_settings&, const comparison_outcome&, const rendering&);

}  // namespace quintet::bench
