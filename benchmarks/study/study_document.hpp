// SPDX-License-Identifier: BSL-1.0
// study_document.hpp: a study as JSON, and reading an earlier study's file.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "study/study.hpp"

namespace quintet::bench {

// Composes the keys of every command, "study" and "not_measured".
boost::json::object compose_study(const study_outcome&);

// Reads each server's figures and caches from a file of --json. Throws std::invalid_argument with a sentence.
std::vector<subject> read_study(const std::string& path);

}  // namespace quintet::bench
