// SPDX-License-Identifier: BSL-1.0
// sweep_page.hpp: a sweep as one self-contained HTML file.
#pragma once

#include <string>

#include "report/document.hpp"
#include "sweep/axis.hpp"

namespace quintet::bench {

std::string sweep_page(const axis&, const comparison&);

}  // namespace quintet::bench
