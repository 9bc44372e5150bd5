// SPDX-License-Identifier: BSL-1.0
// findings.hpp: results of one run of a scenario: figures, and the demands on them.
#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace quintet::bench {

struct figure {
  std::string key;     ///< in JSON: "p99_ratio"
  std::string label;   ///< for people: "p99 beside them / p99 without"
  double value = 0;    ///< NaN: it could not be measured
  std::string unit;    ///< "us", "%", or empty
  std::string demand;  ///< "at most 2"; empty: no demand
  bool met = true;     ///< whether the demand is met
};

class findings {
 public:
  void tell(std::string key, std::string label, double value, std::string unit = "");
  void at_most(std::string key, std::string label, double value, double bound, std::string unit = "");
  void exactly(std::string key, std::string label, double value, double wanted, std::string unit = "");
  /// Adds a remark about the run.
  void remark(std::string text) { remarks_.push_back(std::move(text)); }
  /// Notes that the run could not be finished. Only the first failure counts; later ones follow from it.
  void fail(std::string why) {
    if (!failure_) failure_ = std::move(why);
  }

  [[nodiscard]] bool passed() const;
  /// Returns a line for each figure, remark and failure.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] boost::json::object json() const;

 private:
  std::vector<figure> figures_;
  std::vector<std::string> remarks_;
  std::optional<std::string> failure_;
};

/// Formats with as many digits as a reader can use: 12,345; 0.0123; 1.25.
std::string number_text(double value);

}  // namespace quintet::bench
