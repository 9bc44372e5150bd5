// SPDX-License-Identifier: BSL-1.0
// study_document.hpp: a study as JSON, and what an earlier one's file says.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "study/study.hpp"

namespace quintet::bench {

// What every command writes, and beside it "study" and "not_measured".
boost::json::object compose_study(const study_outcome&);

// The figures and caches of each server in a file that --json wrote. Throws std::invalid_argument with a sentence.
std::vector<subject> read_study(const std::string& path);

}  // namespace quintet::bench
