// SPDX-License-Identifier: BSL-1.0
// findings.hpp: what one run of a scenario has found: figures, and which of them had to be what.
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
  double value = 0;    ///< not a number: it could not be measured
  std::string unit;    ///< "us", "%", or empty
  std::string demand;  ///< "at most 2"; empty: nothing is demanded
  bool met = true;     ///< the demand
};

class findings {
 public:
  void tell(std::string key, std::string label, double value, std::string unit = "");
  void at_most(std::string key, std::string label, double value, double bound, std::string unit = "");
  void exactly(std::string key, std::string label, double value, double wanted, std::string unit = "");
  /// Something to know about the run that is no figure.
  void remark(std::string text) { remarks_.push_back(std::move(text)); }
  /// The run could not be finished. The first one counts: what follows is its consequence.
  void fail(std::string why) {
    if (!failure_) failure_ = std::move(why);
  }

  [[nodiscard]] bool passed() const;
  /// A line for each figure, remark and failure.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] boost::json::object json() const;

 private:
  std::vector<figure> figures_;
  std::vector<std::string> remarks_;
  std::optional<std::string> failure_;
};

/// 12,345; 0.0123; 1.25: as many digits as a reader can use.
std::string number_text(double value);

}  // namespace quintet::bench
