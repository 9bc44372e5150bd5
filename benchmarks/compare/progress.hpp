// SPDX-License-Identifier: BSL-1.0
// progress.hpp: progress of a comparison: a bar on a terminal, a line for each run elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace quintet::bench {

class progress {
 public:
  progress(std::size_t runs, double expected_seconds);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void begins(const std::string& label);
  // `expected` is the planned time of the run. The ratio of real to planned time corrects the rest of the plan.
  void done(const std::string& label, const std::string& outcome, double expected);

  // Returns "[#####.....] 12 of 51, about 23 s left".
  static std::string bar(std::size_t done, std::size_t all, double seconds_left);

 private:
  double seconds_left() const;
  void draw(const std::string& label) const;

  std::size_t runs_, done_ = 0;
  double expected_, expected_done_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool terminal_;
};

}  // namespace quintet::bench
