// SPDX-License-Identifier: BSL-1.0
// conclusion.cpp: the end of a measuring command: output and exit status.
#include "compare/conclusion.hpp"

#include <fmt/format.h>

#include "output_file.hpp"
#include "report/text.hpp"

namespace quintet::bench {
namespace {

std::string title_of(const run_result& r) {
  workload shape;
  shape.name = r.workload;
  shape.connections = static_cast<unsigned>(r.connections.value_or(0));
  shape.message_bytes = static_cast<std::size_t>(r.message_bytes.value_or(0));
  shape.pipeline = static_cast<unsigned>(r.pipeline.value_or(0));
  return title(shape);
}

// Prints which runs failed or lost requests. Returns false if there are none.
bool failures_told(const comparison& found) {
  bool any = false;
  for (const run_result& r : found.results) {
    const auto lost = r.failed.value_or(0);
    if (!r.error && lost <= 0) continue;
    fmt::print(stderr, "failed: {} {} round {}: {}\n", title_of(r), label_of(r), r.round,
               r.error.value_or(grouped(lost) + " requests failed"));
    any = true;
  }
  return any;
}

}  // namespace

int conclude(const compare_settings& s, const comparison_outcome& outcome, const rendering& how) {
  const comparison& c = outcome.found;
  std::fflush(stderr);
  fmt::print("{}", how.table(c));
  std::fflush(stdout);
  if (!s.json_file.empty()) write_output(s.json_file, pretty(how.document(c)));
  if (!s.html_file.empty()) write_output(s.html_file, how.page(c));
  if (!s.json_file.empty() && s.json_file != "-") fmt::print("results: {}\n", s.json_file);
  if (!s.html_file.empty() && s.html_file != "-") fmt::print("report:  {}\n", s.html_file);
  if (outcome.interrupted) return 130;
  if (!s.from_file.empty()) return 0;  // the command that measured them has printed them
  return failures_told(c) ? 1 : 0;
}

}  // namespace quintet::bench
