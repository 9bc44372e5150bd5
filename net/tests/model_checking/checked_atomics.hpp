// SPDX-License-Identifier: BSL-1.0
// checked_atomics: std::atomic's functions under the model checker Relacy, for code that is a template of its atomics.
//
// Relacy runs the threads of a model in one thread, tries their interleavings one after another, and lets relaxed loads
// return each value that the C++ memory model allows. <relacy/relacy.hpp> replaces `new` and std::memory_order_* by
// macros, so only its parts are included.
#pragma once

#include <relacy/atomic.hpp>
#include <relacy/atomic_fence.hpp>
#include <relacy/backoff.hpp>
#include <relacy/base.hpp>
#include <relacy/context.hpp>
#include <relacy/context_base_impl.hpp>
#include <relacy/dyn_thread.hpp>
#include <relacy/stdlib/condition_variable.hpp>
#include <relacy/stdlib/event.hpp>
#include <relacy/stdlib/mutex.hpp>
#include <relacy/stdlib/semaphore.hpp>
#include <relacy/test_suite.hpp>
#include <relacy/thread_local.hpp>
#include <relacy/var.hpp>

#include <atomic>
#include <iostream>
#include <ostream>
#include <source_location>

namespace quintet::model_checking {

using place = std::source_location;

inline rl::debug_info info_of(const place& at) { return rl::debug_info(at.function_name(), at.file_name(), at.line()); }
constexpr rl::memory_order order_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_consume:
      return rl::mo_consume;
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    case std::memory_order_seq_cst:
      break;
  }
  return rl::mo_seq_cst;
}

/// As std::atomic, zero at the beginning. The history of a failed check names the calling line.
template <class T>
class atomic {
 public:
  [[nodiscard]] T load(std::memory_order order = std::memory_order_seq_cst, const place& at = place::current()) const {
    return value_.load(order_of(order), info_of(at));
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst, const place& at = place::current()) {
    value_.store(value, order_of(order), info_of(at));
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst, const place& at = place::current()) {
    return value_.rmw(rl::rmw_type_t<rl::rmw_type_swap>(), value, order_of(order), info_of(at));
  }

 private:
  rl::atomic<T> value_{T{}};
};

/// For templates that take their atomics as a parameter.
struct checked_atomics {
  template <class T>
  using atomic = model_checking::atomic<T>;
  static void fence(const place& at = place::current()) { rl::atomic_thread_fence(rl::mo_seq_cst, info_of(at)); }
};

/// A wake-up that waits until it is taken; one is as good as many. As an eventfd, or a byte on a socket.
class wake_up {
 public:
  void begin(const place& at = place::current()) { event_.init(false, false, info_of(at)); }
  void end(const place& at = place::current()) { event_.deinit(info_of(at)); }
  void send(const place& at = place::current()) { event_.set(info_of(at)); }
  void wait(const place& at = place::current()) { (void)event_.wait(false, false, info_of(at)); }

 private:
  rl::generic_event event_;
};

/// Memory without atomics: an access that races with a write is an error.
template <class T>
class plain {
 public:
  void write(T value, const place& at = place::current()) { value_(info_of(at)) = value; }
  [[nodiscard]] T read(const place& at = place::current()) const { return value_(info_of(at)); }

 private:
  mutable rl::var<T> value_;
};

/// Fails the current interleaving, with its history, unless `holds`.
inline void check(bool holds, const char* what, const place& at = place::current()) {
  if (!holds) rl::ctx().fail_test(what, rl::test_result_user_assert_failed, info_of(at));
}

/// The outcome of a model: how many interleavings were tried, and what failed.
struct outcome {
  bool holds;
  unsigned long long interleavings;
  rl::test_result_e result;
};

/// Tries all interleavings with at most `switches` preemptions. If one fails, writes its steps to `history`, without
/// memory: Relacy writes from the stack of a thread of the model.
template <class Model>
outcome check_all(unsigned switches, std::ostream& history = std::cout) {
  rl::test_params how;
  std::ostream nowhere(nullptr);
  how.output_stream = &history;
  how.progress_stream = &nowhere;
  how.search_type = rl::fair_context_bound_scheduler_type;
  how.context_bound = switches;
  how.iteration_count = ~rl::iteration_t{0};
  const bool holds = rl::simulate<Model>(how);
  return {holds, static_cast<unsigned long long>(how.stop_iteration), how.test_result};
}

}  // namespace quintet::model_checking
