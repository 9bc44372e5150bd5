// SPDX-License-Identifier: BSL-1.0
// sim_cores.hpp: the cores of a simulated machine, which its threads share in turns, and the threads' locks.
#pragma once

#include <coroutine>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "forecast/simulation.hpp"

namespace quintet::bench::forecasting {

class sim_thread;

// The cost of waking a thread on an idle core.
struct wake_up {
  double cpu = 0;      // of the waking thread
  double latency = 0;  // until the woken thread runs
};

struct core_settings {
  unsigned cores = 1;
  double slice = 3000;     // time after which another ready thread gets the core
  double switch_cost = 0;  // when a core continues with another thread
  std::function<wake_up(double idle)> wake = [](double) { return wake_up{}; };  // by the core's idle time
};

// One queue of ready threads for all cores: no core is idle while a thread waits. Real schedulers come close to that.
class sim_cores {
 public:
  sim_cores(simulation& s, core_settings settings) : sim_(s), settings_(std::move(settings)), cores_(settings_.cores) {}
  sim_cores(const sim_cores&) = delete;
  sim_cores& operator=(const sim_cores&) = delete;

  // Starts the thread, which runs once it has a core.
  void start(sim_thread&, process);
  // Wakes the thread. Returns the caller's CPU cost, which the caller must run(). 0 if the thread is awake or must wait
  // for a core: the cost is then that of any send.
  double wake(sim_thread&);
  simulation& sim() const { return sim_; }

 private:
  friend class sim_thread;
  struct core {
    sim_thread* running = nullptr;  // running, or about to
    sim_thread* last = nullptr;
    double idle_since = 0;
  };

  void go_on(unsigned number);
  void ran(unsigned number);
  void next(unsigned number);
  void assign(unsigned number, sim_thread&);
  void give_up(sim_thread&);
  int idle_core_for(const sim_thread&) const;

  simulation& sim_;
  core_settings settings_;
  std::vector<core> cores_;
  std::deque<sim_thread*> ready_;
};

class sim_thread {
 public:
  // `resume_cost` is the thread's own CPU cost after it was woken on an idle core.
  explicit sim_thread(sim_cores& on, double resume_cost = 0) : cores_(on), resume_cost_(resume_cost) {}
  sim_thread(const sim_thread&) = delete;
  sim_thread& operator=(const sim_thread&) = delete;

  struct running {
    sim_thread& thread;
    double us;
    bool await_ready() const noexcept { return us <= 0; }
    void await_suspend(std::coroutine_handle<> h) const { thread.run_for(us, h); }
    void await_resume() const noexcept {}
  };
  struct sleeping {
    sim_thread& thread;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const { thread.fall_asleep(h); }
    void await_resume() const noexcept {}
  };
  struct standing {
    sim_thread& thread;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const noexcept { thread.then_ = h; }
    void await_resume() const noexcept {}
  };

  // co_await: uses a core for `us`.
  running run(double us) { return {*this, us}; }
  // co_await: sleeps without a core until wake(). Nothing can have happened since the caller last checked.
  sleeping sleep() { return {*this}; }
  // co_await: keeps its core without doing anything, until go_on().
  standing stand() { return {*this}; }
  void go_on();

  // Wakes the thread, except from its wait for a lock.
  double wake() { return blocked_ ? 0 : cores_.wake(*this); }
  unsigned core() const { return core_; }  // the one it runs on
  double used() const { return used_; }    // CPU

 private:
  friend class sim_cores;
  friend class sim_lock;
  enum class state { asleep, ready, on_core };

  void run_for(double us, std::coroutine_handle<> then);
  void fall_asleep(std::coroutine_handle<> then);

  sim_cores& cores_;
  double resume_cost_;
  std::coroutine_handle<> then_;
  state state_ = state::asleep;
  bool blocked_ = false;  // by a lock
  unsigned core_ = 0;
  double demand_ = 0, chunk_ = 0, slice_left_ = 0, used_ = 0;
};

// Returns 0 if the data was last touched on this core, else the cost of fetching it.
inline double fetching(unsigned& last_core, const sim_thread& t, double cost) {
  return std::exchange(last_core, t.core()) == t.core() ? 0 : cost;
}

// Use:  while (!lock.try_take()) co_await lock.wait(thread);   // sleeps: a mutex
//       if (!lock.try_take()) co_await lock.spin(thread);      // keeps its core: a spin lock, first come first served
//       ...
//       co_await thread.run(lock.release());
class sim_lock {
 public:
  bool try_take() { return taken_ ? false : (taken_ = true); }
  sim_thread::sleeping wait(sim_thread& t) {
    sleepers_.push_back(&t);
    t.blocked_ = true;
    return t.sleep();
  }
  sim_thread::standing spin(sim_thread& t) {
    spinners_.push_back(&t);
    return t.stand();
  }
  std::size_t spinning() const { return spinners_.size(); }
  // Returns the cost of waking the longest sleeper. Another thread can take the lock before the sleeper runs.
  double release();

 private:
  bool taken_ = false;
  std::deque<sim_thread*> sleepers_, spinners_;
};

}  // namespace quintet::bench::forecasting
