// SPDX-License-Identifier: BSL-1.0
// scenario.hpp: the scenarios, their settings and shared helpers.
#pragma once

#include "load/clock.hpp"
#include "options.hpp"
#include "stress/findings.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::bench {

struct stress_settings {
  std::vector<std::string> scenarios;           ///< names
  std::vector<std::string> models;              ///< full names
  engine_kind engine = engine_kind::automatic;  ///< of the server
  std::optional<accept_strategy> accept;        ///< this and the next two: options of `serve`
  std::optional<unsigned> loops;
  bool own_descriptors = false;
  std::optional<unsigned> peers;  ///< unset: the scenario's default
  std::optional<std::chrono::nanoseconds> within;
  std::chrono::nanoseconds deadline = std::chrono::seconds(5);  ///< slow-writers: the server's message_timeout
  std::optional<std::chrono::nanoseconds> window;  ///< length of each measurement; unset: the scenario's default
  unsigned rounds = 3;
  std::size_t memory = std::size_t{512} << 20U;  ///< non-readers: limit of the server's memory group
  std::string program;                           ///< program that serves; by default this one
  std::string json_file;
};

/// Number of connects that one scenario has in progress at a time:
/// a listener has a backlog, and a dropped SYN costs a second.
constexpr unsigned most_connecting = 256;

/// One scenario under one model.
struct stress_run {
  const stress_settings& settings;
  std::string model;
  unsigned peers = 0;
  std::chrono::nanoseconds window{};  ///< length of each measurement
  std::uint64_t deadline_ns = 0;      ///< of the whole run
  findings& found;

  /// Throws run_error after the run's deadline, and interrupted.
  void check_time() const;
  /// Waits for `length` and checks the deadline. Returns true early, as soon as `done` does.
  bool wait(std::chrono::nanoseconds length, const std::function<bool()>& done = nullptr) const;
  /// Prints a line on standard error.
  void progress(const std::string& what) const;
  [[nodiscard]] std::uint64_t window_ns() const { return static_cast<std::uint64_t>(window.count()); }
};

struct scenario {
  std::string_view name, help;
  unsigned default_peers;
  std::chrono::seconds default_window;
  bool keeps_peers;                                        ///< all peers are open at the same time
  std::chrono::seconds (*limit)(const stress_run& begun);  ///< default time limit
  void (*run)(stress_run&);
};

void stress_resets(stress_run&);
void stress_slow_writers(stress_run&);
void stress_non_readers(stress_run&);
void stress_idle(stress_run&);
void stress_descriptors(stress_run&);
void stress_overload(stress_run&);
void stress_flood(stress_run&);

extern const std::array<scenario, 7> scenarios;

/// Throws usage_error if the scenario is unknown, or if this machine has too few descriptors.
const scenario& require_scenario(std::string_view name);
void require_descriptors(const scenario&, const stress_settings&, unsigned peers);

/// Performs a scenario. A fault of the server is a failure in the findings, not an exception. Throws interrupted.
findings perform(const scenario&, const stress_settings&, const std::string& model);

}  // namespace quintet::bench
