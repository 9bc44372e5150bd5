// SPDX-License-Identifier: BSL-1.0
// verdict.hpp: who wins a workload and by how much, or that the noise forbids to say.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/summary.hpp"

namespace quintet::bench {

// What a workload is judged by.
struct yardstick {
  std::string_view key;
  measurement run_result::* field;
  bool more_is_better;
};
yardstick yardstick_of(std::string_view workload);
extern const yardstick cpu_per_request;

// The models compared by one yardstick.
struct ranking {
  std::vector<const combination*> level;   // the best median first, then all whose range overlaps with its range
  std::vector<const combination*> behind;  // the others, best first
  bool single_round = false;               // no spread is known, so nothing is level with anything
  bool clear_winner() const { return level.size() == 1 && !behind.empty() && !single_round; }
  bool too_noisy() const { return level.size() > 1 && behind.empty(); }
};
ranking rank(std::span<const combination>, std::string_view workload, const yardstick&);

struct verdict {
  std::string workload;
  std::string metric;                 // key of the yardstick
  std::optional<std::string> winner;  // the clear winner
  std::vector<std::string> level;     // the leaders that cannot be told apart (just the winner if there is one)
  measurement ahead_by;               // how many times better than the next one behind
  bool too_noisy = false;
  std::string sentence;
  // What throughput does not tell: who needs least CPU for a cheap request, who lets cheap requests wait least for dear
  // ones. Empty where the handler's own work decides it.
  std::string also;
  std::string caution;               // empty, or why the throughput is not to be believed
  std::vector<std::string> fastest;  // who serves most requests, and who cannot be told apart from it
  std::vector<std::string> frugal;   // who needs least CPU per request, and who cannot be told apart from it
};

// The share of the CPUs that other programs had while this workload was measured, where that is too much to believe its
// throughput: the scheduler then gives a server CPU by its number of threads. CPU per request stays true.
measurement disturbance(std::span<const combination>, std::string_view workload);
verdict judge(std::span<const combination>, std::string_view workload);
boost::json::object to_json(const verdict&);

// How far the throughput moved between rounds that should have been equal.
std::string noise_sentence(std::span<const combination>);

}  // namespace quintet::bench
