// SPDX-License-Identifier: BSL-1.0
// shape.hpp: compares throughput over connections with a published curve: does it rise and fall in the same way?
#pragma once

#include <array>
#include <optional>

#include "sweep/curve.hpp"

namespace quintet::bench {

struct published_point {
  double connections, requests_per_s;
};
// Published for a hand-written echo of 8 bytes on one epoll loop, on a virtual machine of 4 cores (i5-3470). The point
// at 30 is from the text beside the table.
inline constexpr std::array<published_point, 9> published{{{1, 10'000},
                                                           {5, 90'000},
                                                           {10, 190'000},
                                                           {30, 200'000},
                                                           {100, 200'000},
                                                           {300, 150'000},
                                                           {500, 130'000},
                                                           {1000, 110'000},
                                                           {5000, 90'000}}};
inline constexpr double published_peak = 200'000;
// Returns nullopt if nothing was published for this number.
std::optional<double> published_at(double connections);
// Returns whether the results are comparable with it: an echo of 8 bytes, over connections.
bool has_published(measurement run_result::* axis, std::span<const combination>);

// Verdict. "As published" means: at least 90 % of the peak at 10 to 30 connections, less with fewer than 10, and at
// most 75 % with 5,000.
struct shape_verdict {
  std::string label;
  std::optional<bool> rises, falls;  // as published; empty if no measured value can tell
  std::string rise, fall;            // sentences
};
shape_verdict evaluate_shape(const curve&);

}  // namespace quintet::bench
