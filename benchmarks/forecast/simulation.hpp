// SPDX-License-Identifier: BSL-1.0
// simulation.hpp: a clock that jumps from event to event, and the processes that wait on it. Times are microseconds.
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

namespace quintet::bench::forecasting {

// A coroutine that lives until its simulation ends. What it waits for resumes it.
class process {
 public:
  struct promise_type {
    process get_return_object() noexcept { return process(handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const { throw; }  // to whoever runs the simulation
  };
  using handle = std::coroutine_handle<promise_type>;

  process(process&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  process& operator=(process&&) = delete;
  ~process() {
    if (handle_) handle_.destroy();
  }
  std::coroutine_handle<> get() const { return handle_; }

 private:
  explicit process(handle h) : handle_(h) {}
  handle handle_;
};

// Events happen in the order of their times, those of the same time in the order in which they were asked for: one seed
// gives one result.
class simulation {
 public:
  explicit simulation(std::uint64_t seed) : random_(seed) {}

  double now() const { return now_; }
  void at(double when, std::function<void()> what) { events_.push({when, next_++, std::move(what)}); }
  // Keeps the process, and does not begin it: what it first waits for does (sim_cores::start).
  std::coroutine_handle<> keep(process p) {
    processes_.push_back(std::move(p));
    return processes_.back().get();
  }
  // False when nothing will ever happen again.
  bool step() {
    if (events_.empty()) return false;
    now_ = events_.top().when;
    const auto what = std::move(events_.top().what);
    events_.pop();
    what();
    return true;
  }

  // From 0 to 1, 1 excluded. By hand: the distributions of the standard library differ between libraries.
  double random() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double exponential(double mean);
  // What does the same takes not always equally long, or else everything would go in step: up to `spread` of it more,
  // or less.
  double vary(double us, double spread) { return us * (1 + spread * (2 * random() - 1)); }

 private:
  struct event {
    double when;
    std::uint64_t number;
    mutable std::function<void()> what;
    bool operator<(const event& other) const {  // the queue has the greatest on top
      return when != other.when ? when > other.when : number > other.number;
    }
  };

  double now_ = 0;
  std::uint64_t next_ = 0;
  std::mt19937_64 random_;
  std::priority_queue<event> events_;
  std::vector<process> processes_;
};

}  // namespace quintet::bench::forecasting
