// SPDX-License-Identifier: BSL-1.0
// axis.hpp: the axes of a sweep: their values on the command line, their effect on a workload, their field in results.
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
  std::string_view column;  // header of its column in the table
  std::string_view unit;    // follows a value in a sentence
  bool rising;              // the figure is expected to rise with the values, up to a peak
  // Defaults for the command line:
  std::string_view default_workload, default_models, default_values;
  measurement run_result::* field;   // a result's field with the value
  measurement run_result::* figure;  // the figure that is plotted over the values
  double (*parse)(std::string_view);
  std::string (*text)(double);
  void (*apply)(workload&, double);
};

extern const std::array<axis, 5> axes;

// All throw usage_error, which says what is allowed.
const axis& require_axis(std::string_view name);
std::vector<double> parse_values(const axis&, std::string_view text);  // "1,5,10": in ascending order, each once
workload parse_base(const axis&, std::string_view name);               // the workload to vary

// Returns the workload once for each value.
std::vector<workload> vary(const axis&, const workload& base, const std::vector<double>& values);

}  // namespace quintet::bench
