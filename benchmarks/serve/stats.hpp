// SPDX-License-Identifier: BSL-1.0
// stats.hpp: a server's counters, as a line a second and as JSON at the end.
#pragma once

#include <quintet/net/event_loop.hpp>
#include <quintet/net/server/server_statistics.hpp>
#include <quintet/threadmodels/compute/model_statistics.hpp>

#include <fmt/core.h>
#include <fmt/format.h>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quintet::bench {

/// Prints counters as differences from the previous line.
class stats_line {
 public:
  explicit stats_line(std::string name) : name_(std::move(name)) {}

  /// Prints a line. `on_each` holds the connections of each loop, for models with several loops.
  void print(const server_statistics& now, const std::vector<std::uint64_t>& on_each) {
    const auto time = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(time - last_time_).count();
    const auto rate = [&](std::uint64_t server_statistics::* field) {
      return static_cast<double>(now.*field - last_.*field) / seconds;
    };
    fmt::print(
        "{}  open {}{}  accepted {:.0f}/s  batches {:.0f}/s  receives {:.0f}/s  sends {:.0f}/s  in {:.2f} MB/s  out "
        "{:.2f} MB/s  errors {}  stalls {}\n",
        name_, now.opened - now.closed, on_each.size() > 1 ? fmt::format(" [{}]", fmt::join(on_each, " ")) : "",
        rate(&server_statistics::accepted), rate(&server_statistics::batches), rate(&server_statistics::receives),
        rate(&server_statistics::sends), rate(&server_statistics::bytes_received) / 1e6,
        rate(&server_statistics::bytes_sent) / 1e6, now.accept_errors + now.handler_errors, now.stalls);
    std::fflush(stdout);
    last_ = now;
    last_time_ = time;
  }

 private:
  std::string name_;
  server_statistics last_;
  std::chrono::steady_clock::time_point last_time_ = std::chrono::steady_clock::now();
};

/// Returns the number of open connections of each loop.
inline std::vector<std::uint64_t> open_on_each(const std::vector<event_loop*>& loops) {
  std::vector<std::uint64_t> open;
  for (event_loop* loop : loops) open.push_back(loop->counters().open());
  return open;
}

/// Returns the number of connections that each loop has opened.
inline boost::json::array opened_on_each(const std::vector<event_loop*>& loops) {
  boost::json::array opened;
  for (event_loop* loop : loops) opened.emplace_back(loop->counters().opened.value());
  return opened;
}

/// Returns the CPUs of the loops that are pinned to one CPU.
inline std::vector<int> cpus_of(const std::vector<event_loop*>& loops) {
  std::vector<int> cpus;
  for (const event_loop* loop : loops)
    if (const int cpu = loop->options().cpu; cpu >= 0) cpus.push_back(cpu);
  return cpus;
}

/// Times are relative to the last decision.
inline boost::json::array to_json(const std::vector<worker_decision>& decisions) {
  boost::json::array all;
  for (const worker_decision& d : decisions) {
    const std::chrono::duration<double> before = decisions.back().when - d.when;
    const std::chrono::duration<double, std::micro> waited = d.waited;
    all.push_back(boost::json::object{{"what", to_string(d.what)},
                                      {"seconds_before_the_last", before.count()},
                                      {"threads", d.threads},
                                      {"queued", d.queued},
                                      {"waited_us", waited.count()}});
  }
  return all;
}

inline boost::json::object to_json(const priority_statistics& s) {
  return {{"accepted", s.accepted},
          {"open", s.open},
          {"descriptors_given", s.descriptors_given},
          {"memory_given", s.memory_given},
          {"scheduling", to_string(s.scheduling)}};
}

inline boost::json::object to_json(const heartbeat_statistics& s) {
  const auto microseconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  return {{"scans", s.scans},
          {"pings", s.pings},
          {"late", s.late},
          {"late_p50_us", microseconds(s.lateness.percentile(50))},
          {"late_p99_us", microseconds(s.lateness.percentile(99))},
          {"late_max_us", microseconds(s.lateness.max)}};
}

/// Formats the counters of a server that ran for `seconds`.
inline boost::json::object to_json(const with_compute<server_statistics>& s, std::string_view model, double seconds) {
  boost::json::object o{{"command", "serve"},
                        {"model", model},
                        {"duration_s", seconds},
                        {"accepted", s.accepted},
                        {"accept_errors", s.accept_errors},
                        {"refused", s.refused},
                        {"accepted_locally", s.accepted_locally},
                        {"accepted_by_each", boost::json::array(s.accepted_by_each.begin(), s.accepted_by_each.end())},
                        {"sends_priority", s.sends_priority},
                        {"priority", to_json(s.priority)},
                        {"heartbeat", to_json(s.heartbeat)},
                        {"stalls", s.stalls},
                        {"moved", s.moved_here},
                        {"rebalanced", s.rebalanced},
                        {"workers", s.workers.threads},
                        {"worker_wakes", s.workers.wakes},
                        {"workers_grown_at_once", s.workers.grown_at_once},
                        {"workers_grown_for_latency", s.workers.grown_for_latency},
                        {"workers_grown_when_stuck", s.workers.grown_when_stuck},
                        {"workers_left_idle", s.workers.left_idle},
                        {"workers_refused", s.workers.refused},
                        {"worker_overloads", s.workers.overloads},
                        {"worker_shed", s.workers.shed},
                        {"worker_longest_wait_us", static_cast<double>(s.workers.longest_wait_ns) / 1e3},
                        {"worker_decisions", to_json(s.workers.decisions)}};
  const auto add = [&o](const char* name, std::uint64_t value) { o[name] = value; };
  loop_statistics::each(add, s);
  offload_statistics::each(add, s);
  return o;
}

}  // namespace quintet::bench
