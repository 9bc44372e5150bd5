// SPDX-License-Identifier: BSL-1.0
// profile.hpp: `serve --profile`: the CPU and heap profilers of gperftools, preloaded, so that no build needs them.
#pragma once

#include <string>
#include <string_view>

namespace quintet::bench {

struct profile_request {
  bool heap = false;  ///< else CPU
  std::string file;   ///< empty: no profile
};

/// Parses "cpu=FILE" or "heap=FILE". Throws usage_error.
profile_request parse_profile(std::string_view text);

/// Profiles the process from construction to destruction.
class profiler {
 public:
  /// Without the library in the process, starts the program again with the library preloaded. Throws usage_error if the
  /// library is not installed, std::runtime_error if the profile cannot start.
  explicit profiler(profile_request what);
  profiler(const profiler&) = delete;
  profiler& operator=(const profiler&) = delete;
  ~profiler();

 private:
  const profile_request what_;
};

}  // namespace quintet::bench
