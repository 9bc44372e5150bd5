// SPDX-License-Identifier: BSL-1.0
// compare.hpp: performs all runs of a plan, one after the other.
#pragma once

#include "compare/runner.hpp"
#include "compare/settings.hpp"
#include "report/document.hpp"

namespace quintet::bench {

struct comparison_outcome {
  comparison found;
  bool interrupted = false;  // by Ctrl-C; `found` has the results so far
};

comparison_outcome compare(const compare_settings&, const measure_function& = measure_load);

}  // namespace quintet::bench
