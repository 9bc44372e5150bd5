// SPDX-License-Identifier: BSL-1.0
// rebalancer: measures the loads of the loops, and runs a round of moves if they differ.
#include "rebalancer.hpp"

#include "../../base/error.hpp"
#include "../../base/metrics/counter.hpp"
#include "../connection/connection.hpp"
#include "../connection/connection_registry.hpp"
#include "rebalance_plan.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <new>
#include <string>
#include <utility>

namespace quintet {
namespace {

constexpr std::size_t marked_at_once = 256;               // slots scanned under one lock: some microseconds
constexpr std::size_t chosen_at_once = 64;                // the same; bounds the moves that a loop gets at once
constexpr duration pause = std::chrono::milliseconds(2);  // between two scans that asked connections to move
constexpr duration active_within = std::chrono::milliseconds(50);
constexpr double least_connections = 2;  // minimum difference of the loads
constexpr double least_cpu = 0.05;       // the same, as a fraction of one CPU
constexpr double one = 1 - 1e-9;         // less than 1, because three thirds add up to less

}  // namespace

/// Runs on the main loop. It touches no connection; it asks connections to move through the registry. A round takes
/// several turns, so that it delays no other work: each scans at most 256 slots and asks at most 64 connections.
class loop_rebalancer final : public rebalancer, private timer, private fair_task {
 public:
  explicit loop_rebalancer(const balanced_loops& of);
  void start() override;
  [[nodiscard]] std::uint64_t rounds() const noexcept override { return rounds_.value(); }

 private:
  enum class phase { resting, marking, waiting, choosing };
  struct cpu_clocks;
  /// The share of a loop's load that moves to another loop. Each candidate adds `share` to `due`. When the `due` of all
  /// shares of a loop add up to 1, one connection is asked to move.
  struct migration_share {
    event_loop* to;
    double share, due;
  };

  void expired() noexcept override;
  void run_quantum() noexcept override;
  void plan_round();
  void measure_connections();
  void measure_cpu_time();
  void begin_round(const std::vector<detail::transfer>& plan);
  void mark();
  void choose();
  void consider(const connection_registry::movable_connection& candidate);
  [[nodiscard]] std::vector<migration_share>* shares_from(const event_loop& loop) noexcept;
  void rest(duration how_long) noexcept;

  event_loop& main_;
  const std::vector<event_loop*> loops_;
  connection_registry& connections_;
  const rebalance_options options_;
  const log_hook& log_;
  std::shared_ptr<cpu_clocks> clocks_;  // shared with functions posted to the loops
  phase phase_ = phase::resting;
  std::vector<double> loads_, cpu_times_;
  time_point measured_{};
  std::vector<std::vector<migration_share>> shares_;  // for each loop
  connection_registry::scan_position position_;
  std::vector<connection_registry::movable_connection> found_;
  std::size_t requested_ = 0;  // in this round
  counter rounds_;
};

/// The CPU-time clocks of the loops' threads, which any thread can read. CLOCK_REALTIME: not known yet.
struct loop_rebalancer::cpu_clocks {
  explicit cpu_clocks(std::size_t loops) : of(loops) {
    for (auto& each : of) each = CLOCK_REALTIME;
  }
  std::vector<std::atomic<clockid_t>> of;
};

loop_rebalancer::loop_rebalancer(const balanced_loops& of)
    : main_(of.main),
      loops_(of.loops),
      connections_(of.connections),
      options_(of.options),
      log_(of.log),
      clocks_(std::make_shared<cpu_clocks>(loops_.size())),
      loads_(loops_.size()),
      cpu_times_(loops_.size()),
      shares_(loops_.size()) {
  for (event_loop* const loop : loops_) {
    if (can_detach_connections(*loop)) continue;
    throw config_error(loop->options().own_descriptors
                           ? "rebalance.factor is not 0; it must be 0 with own_descriptors"
                           : "rebalance.factor is not 0; it must be 0 with this engine (epoll can rebalance)");
  }
  found_.reserve(chosen_at_once);
}

void loop_rebalancer::start() {
  if (loops_.size() < 2) return;
  if (options_.by == rebalance_measure::cpu_time)
    for (std::size_t i = 0; i < loops_.size(); ++i)
      loops_[i]->post([i, clocks = clocks_]() noexcept {
        clockid_t mine{};
        if (::pthread_getcpuclockid(::pthread_self(), &mine) == 0) clocks->of[i] = mine;
      });
  rest(options_.interval);
}

void loop_rebalancer::rest(duration how_long) noexcept {
  phase_ = phase::resting;
  main_.start(*this, how_long);
}

void loop_rebalancer::expired() noexcept {
  if (main_.stopping()) return;
  if (phase_ == phase::waiting) phase_ = phase::choosing;
  if (phase_ == phase::choosing) return main_.schedule_fair(*this);
  try {
    plan_round();
  } catch (const std::bad_alloc&) {  // try again later
    rest(options_.interval);
  }
}

void loop_rebalancer::run_quantum() noexcept {
  if (phase_ == phase::marking) return mark();
  try {
    choose();
  } catch (const std::bad_alloc&) {
    rest(options_.interval);
  }
}

// ---- Measuring the loads --------------------------------------------------------------------------------------------

void loop_rebalancer::plan_round() {
  const bool by_cpu = options_.by == rebalance_measure::cpu_time;
  by_cpu ? measure_cpu_time() : measure_connections();
  const auto plan = detail::plan_transfers(loads_, options_.factor, by_cpu ? least_cpu : least_connections);
  if (plan.empty()) return rest(options_.interval);
  begin_round(plan);
}

void loop_rebalancer::measure_connections() {
  std::ranges::transform(loops_, loads_.begin(),
                         [](event_loop* loop) { return static_cast<double>(loop->counters().open()); });
}

// The load is the fraction of one CPU that the thread has used since the last measurement.
void loop_rebalancer::measure_cpu_time() {
  const time_point now = main_.now();
  const double passed = std::chrono::duration<double>(now - std::exchange(measured_, now)).count();
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    timespec used{};
    const clockid_t of = clocks_->of[i];
    const bool known = of != CLOCK_REALTIME && ::clock_gettime(of, &used) == 0;
    const double total = known ? static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9 : 0;
    loads_[i] = (total - std::exchange(cpu_times_[i], total)) / passed;
  }
}

// ---- A round --------------------------------------------------------------------------------------------------------

void loop_rebalancer::begin_round(const std::vector<detail::transfer>& plan) {
  for (auto& each : shares_) each.clear();
  for (const detail::transfer& t : plan) shares_[t.from].push_back({loops_[t.to], t.share, 0});
  requested_ = 0;
  position_ = {};
  phase_ = options_.by == rebalance_measure::cpu_time ? phase::marking : phase::choosing;
  main_.schedule_fair(*this);
}

void loop_rebalancer::mark() {
  if (connections_.mark(position_, marked_at_once)) return main_.schedule_fair(*this);
  position_ = {};
  phase_ = phase::waiting;
  main_.start(*this, active_within);
}

void loop_rebalancer::choose() {
  const std::size_t before = requested_;
  found_.clear();
  const bool more = connections_.find_movable(position_, chosen_at_once, found_);
  for (const auto& candidate : found_) consider(candidate);
  if (more && requested_ > before) return main_.start(*this, pause);
  if (more) return main_.schedule_fair(*this);
  if (options_.by == rebalance_measure::cpu_time) measure_cpu_time();  // the next measurement starts after the moves
  if (requested_ == 0) return rest(options_.interval);
  rounds_.add();
  report(log_, {severity::info, "connections move to less loaded loops"});
  rest(2 * std::min(options_.interval, duration::max() / 2));
}

auto loop_rebalancer::shares_from(const event_loop& loop) noexcept -> std::vector<migration_share>* {
  const auto found = std::ranges::find(loops_, &loop);
  return found == loops_.end() ? nullptr : &shares_[static_cast<std::size_t>(found - loops_.begin())];
}

void loop_rebalancer::consider(const connection_registry::movable_connection& candidate) {
  auto* const shares = shares_from(*candidate.on);
  if (!shares || shares->empty() || (options_.by == rebalance_measure::cpu_time && candidate.is_silent)) return;
  double due = 0;
  for (migration_share& d : *shares) due += d.due += d.share;
  if (due < one) return;
  migration_share& next = *std::ranges::max_element(*shares, {}, &migration_share::due);
  next.due -= 1;
  ++requested_;
  // Fails if the connection has closed, or if too many messages to it are waiting: then it stays.
  (void)connections_.post(candidate.id, [to = next.to](connection& c) { (void)c.move_to(*to); });
}

std::unique_ptr<rebalancer> make_rebalancer(const balanced_loops& of) { return std::make_unique<loop_rebalancer>(of); }

}  // namespace quintet
