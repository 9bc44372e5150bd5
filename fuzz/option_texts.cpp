// SPDX-License-Identifier: BSL-1.0
// option_texts: names, numbers, sizes, durations and lists of options are parsed within their limits, or refused.
#include "fuzz.hpp"

#include "benchmarks/options.hpp"

#include <quintet/net/options/advanced_options.hpp>
#include <quintet/net/options/listen_options.hpp>
#include <quintet/net/options/loop_options.hpp>
#include <quintet/threadmodels/compute/thread_options.hpp>
#include <quintet/threadmodels/model.hpp>
#include <quintet/threadmodels/placement/idle_cpus.hpp>
#include <quintet/threadmodels/placement/placement_options.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sched.h>

namespace {

using namespace quintet;
using fuzz::require;

/// Returns the result of `parse`, or nothing if it throws a usage_error with a text.
template <class Parse>
auto parsed(Parse parse) -> std::optional<decltype(parse())> {
  try {
    return parse();
  } catch (const bench::usage_error& e) {
    require(std::strlen(e.what()) > 0, "a refusal has a text");
    return std::nullopt;
  }
}

template <class Value>
void check_name(std::string_view text, std::optional<Value> value) {
  if (value) require(to_string(*value) == text, "a name is that of its value");
}

void check_names(std::string_view text) {
  check_name(text, from_string<engine_kind>(text));
  check_name(text, from_string<accept_strategy>(text));
  check_name(text, from_string<offload_policy>(text));
  check_name(text, from_string<priority_scheduling>(text));
  check_name(text, from_string<rebalance_measure>(text));
  check_name(text, from_string<placement_policy>(text));
  if (const auto m = from_string(text))
    require(to_string(*m) == text || std::to_string(static_cast<int>(*m)) == text, "a model has a name and a number");
  (void)parsed([&] { return bench::parse_engine(text); });
  (void)parsed([&] { return bench::parse_model(text); });
}

void check_numbers(std::string_view text) {
  if (const auto n = parsed([&] { return bench::parse_number(text, 3, 70'000); }))
    require(*n >= 3 && *n <= 70'000, "a number has limits");
  if (const auto n = parsed([&] { return bench::parse_size(text, 2, 1U << 30U); }))
    require(*n >= 2 && *n <= 1U << 30U, "a size has limits");
  if (const auto d = parsed([&] { return bench::parse_duration(text); }))
    require(d->count() >= 0 && d->count() <= 1'000'000'000'000'000, "a duration has limits");
  if (const auto r = parsed([&] { return bench::parse_range(text, 500); }))
    require(r->min >= 1 && r->min <= r->max && r->max <= 500, "a range has limits");
  if (const auto e = parsed([&] { return bench::parse_endpoint(text); }))
    require(e->port > 0 && !e->host.empty(), "an endpoint has a host and a port");
  for (const int cpu : detail::parse_cpu_list(text)) require(cpu >= 0 && cpu < CPU_SETSIZE, "a CPU can be bound to");
  if (const auto cpus = parsed([&] { return bench::parse_cpus(text); })) {
    const bench::cpu_list allowed = bench::allowed_cpus();
    for (const unsigned cpu : *cpus) require(std::ranges::find(allowed, cpu) != allowed.end(), "CPUs are there");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::input(data, size).rest();
  check_names(text);
  check_numbers(text);
  return 0;
}
