// SPDX-License-Identifier: BSL-1.0
// surroundings.hpp: why two files of results may differ for other reasons than the code.
#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"

namespace quintet::bench {

// A sentence for each: another CPU, kernel, compiler ...; other run times; a busy machine. Empty where all is alike.
std::vector<std::string> warnings(const comparison& before, const comparison& after);

}  // namespace quintet::bench
