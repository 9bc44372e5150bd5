// SPDX-License-Identifier: BSL-1.0
// perf_texts.hpp: parsers for the output of perf and cachegrind. Their exit status is no help: only the text says that
// the machine lacks a counter.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::bench {

// Parses `perf stat -x,`: the count of each event; nullopt for <not supported> or <not counted>.
std::map<std::string, std::optional<double>, std::less<>> parse_perf_stat(std::string_view text);

struct hot_function {
  double share = 0;  // of the samples
  std::string symbol, object;
  bool in_kernel = false;
};
// Parses `perf report --stdio -F overhead,sym,dso -t '|'`.
std::vector<hot_function> parse_perf_report(std::string_view text);

struct lock_wait {
  double waits = 0, microseconds = 0;  // number of waits, and their total time
  std::string type, caller;
};
// Parses `perf lock contention`.
std::vector<lock_wait> parse_lock_contention(std::string_view text);

// From cachegrind's log: instructions, and references and misses of the last-level cache.
struct simulated_counts {
  double instructions = 0, references = 0, misses = 0;
};
// Parses cachegrind's log. Throws run_error if it has no counts.
simulated_counts parse_cachegrind(std::string_view log);

}  // namespace quintet::bench
