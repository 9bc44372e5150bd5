// SPDX-License-Identifier: BSL-1.0
// surroundings.hpp: reasons other than the code why two files of results may differ.
#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"

namespace quintet::bench {

// Returns a sentence for each reason: another CPU, kernel, compiler ...; other run times; a busy machine.
std::vector<std::string> warnings(const comparison& before, const comparison& after);

}  // namespace quintet::bench
