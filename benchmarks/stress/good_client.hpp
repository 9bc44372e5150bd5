// SPDX-License-Identifier: BSL-1.0
// good_client.hpp: somebody who only wants to be served, beside the others: a request now and then, by schedule.
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

/// What goes on around the good client; its latencies are kept apart by it.
enum class company : std::uint8_t {
  nobody,
  others,
  changing,  ///< peers come or go: it has to be answered, and its latencies do not count
  none,      ///< it is not to disturb, and sends nothing
};

/// A thread with some connections for the length of a scenario. Requests go out by the clock, on each connection in
/// turn, whether the last ones have been answered or not; a latency counts from when the request was due.
class good_client {
 public:
  /// `per_s`: requests a second on all connections together.
  good_client(const stress_run& run, const socket_address& to, unsigned connections, unsigned per_s);

  /// Says which round it is, and is alone for the length of a window.
  void begin_round();
  /// Begins with `none`. Each time that it is alone is a new round, which begins with a moment that does not count.
  void now_beside(company c);
  /// Waits for the last replies, and adds to the findings what it has seen. `most_ratio`: of the two p99; 0: any.
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
  histogram* latencies_beside(company c);
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
  std::size_t begun_ = 0;                       // of the rounds
  std::atomic<histogram*> latencies_{nullptr};  // of what is due now; none: nothing is
  std::uint64_t asked_ = 0, answered_ = 0;
  std::string first_failure_;
  std::jthread thread_;
};

}  // namespace quintet::bench
