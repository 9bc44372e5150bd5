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

// A coroutine that lives until its simulation ends. Events and other processes resume it.
class process {
 public:
  struct promise_type {
    process get_return_object() noexcept { return process(handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const { throw; }  // out of the simulation's step()
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

// Events run in the order of their times, and at equal times in the order of scheduling. One seed gives one result.
class simulation {
 public:
  explicit simulation(std::uint64_t seed) : random_(seed) {}

  double now() const { return now_; }
  void at(double when, std::function<void()> what) { events_.push({when, next_++, std::move(what)}); }
  // Stores the process without starting it. Its first resumption starts it (sim_cores::start).
  std::coroutine_handle<> keep(process p) {
    processes_.push_back(std::move(p));
    return processes_.back().get();
  }
  // Runs the next event. Returns false if there is none.
  bool step() {
    if (events_.empty()) return false;
    now_ = events_.top().when;
    const auto what = std::move(events_.top().what);
    events_.pop();
    what();
    return true;
  }

  // Returns a number in [0, 1). Hand-written, because the standard's distributions differ between libraries.
  double random() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double exponential(double mean);
  // Varies a duration by up to `spread` of it in both directions.
  // With equal durations everything would run in lockstep.
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
