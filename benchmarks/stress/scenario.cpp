// SPDX-License-Identifier: BSL-1.0
// scenario.cpp: the table of scenarios, and performing one of them.
#include "stress/scenario.hpp"

#include "compare/child_process.hpp"
#include "compare/interruption.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace quintet::bench {
namespace {

using std::chrono::seconds;

constexpr unsigned own_descriptors = 200;

seconds rounds_of(const stress_run& r, std::chrono::nanoseconds round) {
  return seconds(30) + std::chrono::ceil<seconds>(r.settings.rounds * (2 * r.window + round));
}

// A server that accepts no more than 2,000 connections a second has a defect.
seconds limit_of_resets(const stress_run& r) { return seconds(60 + r.peers / 2000); }
seconds limit_of_slow_writers(const stress_run& r) { return rounds_of(r, 2 * r.settings.deadline + seconds(5)); }
seconds limit_of_others(const stress_run& r) { return rounds_of(r, seconds(20)); }

// The kernel repeats a dropped SYN after 1, 3, 7, ... seconds.
seconds limit_of_floods(const stress_run& r) { return rounds_of(r, seconds(60)); }

constexpr seconds short_window{2};
// The kernel probes peers without a window after 0.2, 0.4, 0.8, ... seconds. If they came together, it probes all
// together: four times in the first two seconds, twice in the next eight.
constexpr seconds long_window{10};

}  // namespace

const std::array<scenario, 7> scenarios{{
    {"resets", "peers that connect and reset the connection, as fast as they can", 100'000, short_window, false,
     limit_of_resets, stress_resets},
    {"slow-writers", "peers that send one byte a second of a message that never ends", 1000, short_window, true,
     limit_of_slow_writers, stress_slow_writers},
    {"non-readers", "peers that ask for 64 MiB each and never read", 500, long_window, true, limit_of_others,
     stress_non_readers},
    {"idle", "peers that have spoken once and stay, beside 100 that are active", 10'000, short_window, true,
     limit_of_others, stress_idle},
    {"descriptors", "more peers than the server has descriptors", 100, short_window, true, limit_of_others,
     stress_descriptors},
    {"flood", "connections that two clients open as fast as they can, for half of which there is no room", 10'000,
     short_window, true, limit_of_floods, stress_flood},
    {"overload", "connections that ask for more than the server can do", 2000, short_window, true, limit_of_others,
     stress_overload},
}};

const scenario& require_scenario(std::string_view name) {
  for (const scenario& s : scenarios)
    if (s.name == name) return s;
  std::string names;
  for (const scenario& s : scenarios) names += std::string(names.empty() ? "" : ", ") + std::string(s.name);
  throw usage_error(fmt::format("\"{}\" is not a scenario; it must be one of: {}, or all", name, names));
}

// The server's process needs as many as this one. With a table per loop, each thread has enough for its share.
void require_descriptors(const scenario& s, const stress_settings& settings, unsigned peers) {
  if (settings.own_descriptors && s.run == stress_idle) return;
  const std::size_t needed = (s.keeps_peers ? peers : 0) + own_descriptors + most_connecting;
  require_files(fmt::format("--peers: {} peers of {}", peers, s.name), needed);
}

void stress_run::check_time() const {
  if (interruption_guard::happened()) throw interrupted();
  if (now_ns() >= deadline_ns) throw run_error("it did not end in time (--within)");
}

bool stress_run::wait(std::chrono::nanoseconds length, const std::function<bool()>& done) const {
  constexpr std::uint64_t look_again = 5'000'000;
  for (const auto end = now_ns() + static_cast<std::uint64_t>(length.count()); now_ns() < end;) {
    if (done && done()) return true;
    check_time();
    sleep_until(std::min(end, now_ns() + look_again));
  }
  return done && done();
}

void stress_run::progress(const std::string& what) const {
  fmt::print(stderr, "  {}: {}\n", model, what);
  std::fflush(stderr);
}

findings perform(const scenario& s, const stress_settings& settings, const std::string& model) {
  findings found;
  stress_run run{.settings = settings,
                 .model = model,
                 .peers = settings.peers.value_or(s.default_peers),
                 .window = settings.window.value_or(s.default_window),
                 .found = found};
  run.deadline_ns = now_ns() + static_cast<std::uint64_t>(settings.within.value_or(s.limit(run)).count());
  try {
    s.run(run);
  } catch (const interrupted&) {
    throw;
  } catch (const std::exception& e) {
    found.fail(e.what());
  }
  return found;
}

}  // namespace quintet::bench
