// SPDX-License-Identifier: BSL-1.0
// axis.hpp: what a sweep can vary: its values on a command line, what a value does to a workload, where results have
// it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "report/result.hpp"
#include "workloads.hpp"

namespace quintet::bench {

struct axis {
  std::string_view name;    // on the command line
  std::string_view help;    // "how many connections"
  std::string_view column;  // above its values in the table
  std::string_view unit;    // behind one of its values in a sentence
  bool rising;              // the figure is expected to rise with the values, to a peak that is to be found
  // Unless the command line has others:
  std::string_view default_workload, default_models, default_values;
  measurement run_result::* field;   // where a result has the value
  measurement run_result::* figure;  // what is drawn over the values
  double (*parse)(std::string_view);
  std::string (*text)(double);
  void (*apply)(workload&, double);
};

extern const std::array<axis, 5> axes;

// These throw usage_error, which says what is allowed.
const axis& require_axis(std::string_view name);
std::vector<double> parse_values(const axis&, std::string_view text);  // "1,5,10": in ascending order, each once
workload parse_base(const axis&, std::string_view name);               // the workload that is varied

// The workload once for each value.
std::vector<workload> vary(const axis&, const workload& base, const std::vector<double>& values);

}  // namespace quintet::bench
