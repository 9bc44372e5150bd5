// SPDX-License-Identifier: BSL-1.0
// figures.hpp: the figures of a study, each with where it comes from.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/result.hpp"

namespace quintet::bench {

struct figure {
  std::string_view key;    // in JSON
  std::string_view title;  // in the table
  double times;            // shown for so many requests: rare things for 1000
  std::string (*format)(double);
  measurement run_result::* field;  // where every command measures it; null: only a study does
  std::string_view source;
};

std::span<const figure> study_figures();
// Of system calls: by which means they were counted.
std::string source_of(const figure&);

}  // namespace quintet::bench
