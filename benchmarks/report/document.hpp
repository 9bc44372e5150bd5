// SPDX-License-Identifier: BSL-1.0
// document.hpp: everything that one command has to say, as the one JSON object that it writes.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "report/result.hpp"

namespace quintet::bench {

struct comparison {
  std::string version;  // of quintet
  std::string command = "compare";
  boost::json::object environment;  // of the machine and the build
  boost::json::object settings;     // how it was run: rounds, duration, seed, interrupted
  std::vector<run_result> results;
};

// What the documents of all commands have: "quintet", "command", "environment", "settings", "noise", "summary",
// "results".
boost::json::object compose_figures(const comparison&);

// Of `compare`: adds what follows from the results: "verdicts", "advice", "peer_ratios".
boost::json::object compose(const comparison&);

// The way back, from a file that compose() wrote; what follows from the results is computed anew.
// Throws std::invalid_argument with a sentence when the text is no such document.
comparison parse_comparison(std::string_view json_text);
// The same of a file, which the sentence then names.
comparison read_comparison(const std::string& path);

// Indented JSON, one short array or object per line, numbers as people write them.
std::string pretty(const boost::json::value&);

}  // namespace quintet::bench
