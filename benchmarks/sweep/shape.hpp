// SPDX-License-Identifier: BSL-1.0
// shape.hpp: throughput over connections beside a published curve: does it rise and fall in the same way?
#pragma once

#include <array>
#include <optional>

#include "sweep/curve.hpp"

namespace quintet::bench {

struct published_point {
  double connections, requests_per_s;
};
// Of a hand-written echo of 8 bytes on one epoll loop, on a virtual machine of 4 cores (i5-3470). The one at 30 is from
// the text that goes with the table.
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
// Nothing where nothing was published.
std::optional<double> published_at(double connections);
// Whether these are comparable with it: an echo of 8 bytes, over connections.
bool has_published(measurement run_result::* axis, std::span<const combination>);

// What "as published" means: at 10 to 30 connections at least 90 % of the peak, with fewer than 10 less than that; with
// 5,000 at most 75 %.
struct shape_verdict {
  std::string label;
  std::optional<bool> rises, falls;  // as published; empty where no value that was measured can tell
  std::string rise, fall;            // sentences
};
shape_verdict judge_shape(const curve&);

}  // namespace quintet::bench
