// SPDX-License-Identifier: BSL-1.0
// perf_texts.hpp: what perf and cachegrind print, read. Their exit status says nothing: a counter that the machine does
// not have is told in the text alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::bench {

// Of `perf stat -x,`: the count of each event; nothing where the text says <not supported> or <not counted>.
std::map<std::string, std::optional<double>, std::less<>> parse_perf_stat(std::string_view text);

struct hot_function {
  double share = 0;  // of the samples
  std::string symbol, object;
  bool in_kernel = false;
};
// Of `perf report --stdio -F overhead,sym,dso -t '|'`.
std::vector<hot_function> parse_perf_report(std::string_view text);

struct lock_wait {
  double waits = 0, microseconds = 0;  // how often, and how long all together
  std::string type, caller;
};
// Of `perf lock contention`.
std::vector<lock_wait> parse_lock_contention(std::string_view text);

// Of cachegrind's log: the accesses that went on to the last-level cache, and those that it did not have.
struct simulated_counts {
  double instructions = 0, references = 0, misses = 0;
};
// Throws run_error where it has counted nothing.
simulated_counts parse_cachegrind(std::string_view log);

}  // namespace quintet::bench
