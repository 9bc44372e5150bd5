// SPDX-License-Identifier: BSL-1.0
// good_client.hpp: a well-behaved client beside the others: sends requests by a schedule.
#pragma once

#include "load/control.hpp"
#include "load/epoll_set.hpp"
#include "load/histogram.hpp"
#include "load/request_stream.hpp"
#include "stress/asking.hpp"
#include "stress/scenario.hpp"
#include "unique_fd.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

namespace quintet::bench {

/// The good client's surroundings. Its latencies are recorded separately for each.
enum class load_phase : std::uint8_t {
  alone,
  beside_peers,
  changing,  ///< peers come or go: replies are required, latencies do not count
  paused,    ///< the client pauses, to disturb nothing
};

/// A thread with some connections for the length of a scenario. It sends requests by schedule, on each connection in
/// turn, even if earlier ones have no reply yet. Latencies count from the scheduled time.
class good_client {
 public:
  /// `per_s` is the rate on all connections together.
  good_client(const stress_run& run, const socket_address& to, unsigned connections, unsigned per_s);

  /// Announces the next round, and measures the client alone for a window.
  void begin_round();
  /// Changes the surroundings, initially `paused`. Each change to `alone` begins a new round, whose first moment does
  /// not count.
  void enter_phase(load_phase c);
  /// Waits for the last replies and adds the results to the findings. `most_ratio` bounds the ratio of the two p99; 0:
  /// no bound.
  void report(double most_ratio);

 private:
  struct due_reply {
    std::uint64_t due;
    histogram* latencies;
  };
  struct round {
    histogram alone, beside;
  };
  struct line {
    unique_fd fd;
    std::uint64_t sent = 0, received = 0;
    std::deque<due_reply> due;
  };

  void work(const std::stop_token& stop);
  histogram* latencies_in(load_phase c);
  void ask(std::uint64_t due);
  void receive(std::uint32_t index);
  void lose(line& l, std::string why);
  [[nodiscard]] bool waiting() const;
  [[nodiscard]] double median_ratio() const;

  const stress_run& run_;
  const std::uint64_t interval_ns_;
  message_pattern pattern_{request_bytes};
  epoll_set ready_;
  std::vector<line> lines_;
  std::size_t next_ = 0;
  std::vector<round> rounds_;
  histogram uncounted_;
  std::size_t begun_ = 0;                       // number of rounds
  std::atomic<histogram*> latencies_{nullptr};  // histogram of requests scheduled now; null: none are
  std::uint64_t asked_ = 0, answered_ = 0;
  std::string first_failure_;
  std::jthread thread_;
};

}  // namespace quintet::bench
