// SPDX-License-Identifier: BSL-1.0
// figures.hpp: the figures of a study, each with its source.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/result.hpp"

namespace quintet::bench {

struct figure {
  std::string_view key;    // in JSON
  std::string_view title;  // in the table
  double times;            // number of requests that the table shows it for; 1000 for rare events
  std::string (*format)(double);
  measurement run_result::* field;  // field in the result of every command; null: only a study measures it
  std::string_view source;
};

std::span<const figure> study_figures();
// Returns the source. For system calls it depends on the counting method.
std::string source_of(const figure&);

}  // namespace quintet::bench
