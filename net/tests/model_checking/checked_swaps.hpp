// SPDX-License-Identifier: BSL-1.0
// checked_swaps: what code with compare-and-swap, intrusive links and mutexes needs of the model checker.
#pragma once

#include "checked_atomics.hpp"

#include <atomic>
#include <iostream>
#include <ostream>

namespace quintet::model_checking {

/// As `atomic`, with compare-and-swap. Weak: sequentially consistent operations are only acquire or release, as in code
/// whose author has forgotten them. The models must find that.
template <class T, bool IsWeak = false>
class swapping_atomic {
 public:
  [[nodiscard]] T load(std::memory_order order = std::memory_order_seq_cst, const place& at = place::current()) const {
    return value_.load(weaker(order, rl::mo_acquire), info_of(at));
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst, const place& at = place::current()) {
    value_.store(value, weaker(order, rl::mo_release), info_of(at));
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst, const place& at = place::current()) {
    return value_.rmw(rl::rmw_type_t<rl::rmw_type_swap>(), value, weaker(order, rl::mo_acq_rel), info_of(at));
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order, std::memory_order failed,
                             const place& at = place::current()) {
    return value_.compare_exchange_weak(expected, value, weaker(order, rl::mo_acq_rel), info_of(at), order_of(failed),
                                        info_of(at));
  }

 private:
  static constexpr rl::memory_order weaker(std::memory_order order, rl::memory_order instead) {
    return IsWeak && order == std::memory_order_seq_cst ? instead : order_of(order);
  }
  rl::atomic<T> value_{T{}};
};

template <bool IsWeak>
struct swapping_atomics {
  template <class T>
  using atomic = swapping_atomic<T, IsWeak>;
};

/// A member of an object that is handed from thread to thread: races are found.
template <class T>
class plain_member {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): as the member that it stands for
  operator T() const { return value_.read(); }
  plain_member& operator=(T value) {
    value_.write(value);
    return *this;
  }

 private:
  plain<T> value_;
};

class mutex {
 public:
  void lock(const place& at = place::current()) { mutex_.lock(info_of(at)); }
  void unlock(const place& at = place::current()) { mutex_.unlock(info_of(at)); }

 private:
  rl::mutex mutex_;
};

/// Requires that all interleavings hold, and writes how many there are.
template <class Model>
bool holds_always(const char* what, unsigned switches) {
  const outcome all = check_all<Model>(switches);
  std::cout << what << ", " << switches << " preemptions: " << all.interleavings << " interleavings" << std::endl;
  return all.holds && all.interleavings > 100;  // the model runs at all
}
/// Requires that the checker finds the defect of a model that is wrong.
template <class Model>
bool is_found(unsigned switches, rl::test_result_e as) {
  std::ostream nowhere(nullptr);
  const outcome all = check_all<Model>(switches, nowhere);
  return !all.holds && all.result == as;
}

}  // namespace quintet::model_checking
