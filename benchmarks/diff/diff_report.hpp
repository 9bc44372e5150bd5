// SPDX-License-Identifier: BSL-1.0
// diff_report.hpp: the differences of two files of results, as text for a terminal and as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "diff/changes.hpp"

namespace quintet::bench {

// One side of the comparison: a path and its document.
struct diff_side {
  std::string path;
  comparison found;
};

std::string diff_table(const diff_side& before, const diff_side& after, const differences&);
boost::json::object compose_diff(const diff_side& before, const diff_side& after, const differences&);

}  // namespace quintet::bench
