// SPDX-License-Identifier: BSL-1.0
// run_until_answered: a load whose short window was not empty. Beside other programs nothing may be answered in it.
#pragma once

#include "load/run.hpp"

namespace quintet::bench {

/// Measures again, for twice as long, until something was answered or has failed.
inline load_result run_until_answered(load_settings s) {
  load_result r = run_load(s);
  while (r.requests == 0 && r.failed == 0 && s.duration < std::chrono::seconds(20)) {
    s.duration *= 2;
    r = run_load(s);
  }
  return r;
}

}  // namespace quintet::bench
