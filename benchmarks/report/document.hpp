// SPDX-License-Identifier: BSL-1.0
// document.hpp: all results of one command, as the single JSON object that it writes.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "report/result.hpp"

namespace quintet::bench {

struct comparison {
  std::string version;  // of Quintet
  std::string command = "compare";
  boost::json::object environment;  // of the machine and the build
  boost::json::object settings;     // how it was run: rounds, duration, seed, interrupted
  std::vector<run_result> results;
};

// Composes the keys that all commands have: "quintet", "command",
// "environment", "settings", "noise", "summary", "results".
boost::json::object compose_figures(const comparison&);

// Composes the document of `compare`, which adds the derived "verdicts", "advice" and "peer_ratios".
boost::json::object compose(const comparison&);

// Parses a document of compose(). Derived keys are computed anew. Throws std::invalid_argument with a sentence if the
// text is no such document.
comparison parse_comparison(std::string_view json_text);
// Reads a document from a file. The error names the file.
comparison read_comparison(const std::string& path);

// Returns indented JSON with short arrays and objects on one line, and numbers as people write them.
std::string pretty(const boost::json::value&);

}  // namespace quintet::bench
