// SPDX-License-Identifier: BSL-1.0
// crowd.hpp: peers that have spoken once and stay; in several threads where one table of descriptors is too small.
#pragma once

#include "load/control.hpp"
#include "stress/asking.hpp"
#include "stress/scenario.hpp"

#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace quintet::bench {

/// Of all peers together. The functions are called in their order, once, and throw what went wrong meanwhile.
class crowd {
 public:
  /// `tables`: how many threads, each with a table of descriptors of its own, have a share of the peers. One: all are
  /// in this process's table.
  crowd(const stress_run& run, const socket_address& to, unsigned peers, unsigned tables);
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd();

  /// Every peer connects and sends a request; waits until each was answered or closed, but no longer than that.
  void speak(std::chrono::nanoseconds patience);
  /// Watches for so long whether one of them is closed.
  void stay(std::chrono::nanoseconds length);
  /// All leave, by a reset.
  void leave();

  [[nodiscard]] std::size_t count(fate f) const { return counts_[static_cast<std::size_t>(f)]; }

 private:
  void work(const socket_address& to, unsigned peers, bool own_table);
  void be_one_of_them(const socket_address& to, unsigned peers);
  void all_meet();

  const stress_run& run_;
  std::chrono::nanoseconds patience_{}, length_{};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::array<std::size_t, 4> counts_{};
  bool have_left_ = false;
  std::barrier<> meeting_;
  std::vector<std::jthread> threads_;
};

}  // namespace quintet::bench
