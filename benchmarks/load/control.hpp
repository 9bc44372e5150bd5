// SPDX-License-Identifier: BSL-1.0
// control.hpp: state shared by the coordinator of a load run and its threads.
#pragma once

#include "load/clock.hpp"
#include "load/histogram.hpp"
#include "load/request_stream.hpp"
#include "load/settings.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <semaphore>
#include <string>

namespace quintet::bench {

struct socket_address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Phases in their order, each once. Threads wait in `connecting` until every connection is established.
enum class phase { connecting, warming, measuring, draining };

/// A counter with a single writer, so a relaxed store is enough. Readers only display it.
class counter {
 public:
  void add(std::uint64_t n) { value_.store(value() + n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct control;

/// One thread's findings. `requests` and `failed` may be read while the thread runs, the rest once it has ended.
struct tally : load_findings {
  counter requests;
  counter failed;

  /// Counts a correct reply to a request that was sent or, in open loop, scheduled at `begun`. Requests count in the
  /// window of their reply. In open loop the latency counts even after the window, if the request was scheduled within
  /// it. Otherwise a stall at the end would hide the worst latencies.
  void succeed(const control& c, std::uint64_t begun, std::uint64_t answered, bool is_cheap = false);
  void note_shed(const control& c, std::uint64_t begun, std::uint64_t answered);
  void note_long(const control& c, std::uint64_t took);
  void fail(std::uint64_t n, std::string why) {
    if (first_failure.empty()) first_failure = std::move(why);
    failed.add(n);
  }
};

/// Shared by all threads of a run. The coordinator writes all but
/// `connect_turns`, `ready`, `ended` and `heartbeat_is_real_time`.
struct control {
  explicit control(const load_settings& s)
      : settings(s), pattern(s.work.message_bytes), interval_ns(s.rate > 0 ? 1e9 / s.rate : 0) {}

  const load_settings settings;
  const message_pattern pattern;
  socket_address target;
  socket_address heartbeat_target;
  const double interval_ns;  ///< open loop: time between two requests of the whole run; 0: closed loop

  std::atomic<phase> now{phase::connecting};
  std::atomic<std::uint64_t> schedule_start_ns{0};
  std::atomic<std::uint64_t> from_ns{never_ns};
  std::atomic<std::uint64_t> to_ns{never_ns};
  std::counting_semaphore<> connect_turns{64};  ///< the server's backlog is bounded, and a dropped SYN costs a second
  std::atomic<unsigned> ready{0};               ///< threads whose connections are established
  std::atomic<unsigned> ended{0};
  std::atomic<bool> heartbeat_is_real_time{false};

  /// Returns the bytes that a connection sends.
  request_stream requests_of(std::uint32_t connection, std::uint32_t first_sequence) const {
    const workload& w = settings.work;
    return {pattern, w.message_bytes, connection, first_sequence, prefix_bytes(w.kind)};
  }

  phase at() const { return now.load(std::memory_order_acquire); }
  bool open_loop() const { return interval_ns > 0; }

  /// Returns the scheduled time of the nth request of the whole run.
  std::uint64_t due_ns(std::uint64_t nth) const {
    return schedule_start_ns.load(std::memory_order_relaxed) +
           static_cast<std::uint64_t>(static_cast<double>(nth) * interval_ns);
  }

  bool due_in_window(std::uint64_t due) const {
    return due >= from_ns.load(std::memory_order_relaxed) && due < to_ns.load(std::memory_order_relaxed);
  }

  /// Returns how long the client waits after the last arrival before missing replies count as failed.
  std::chrono::nanoseconds patience() const { return std::chrono::seconds(2) + 3 * settings.work.cost; }
};

inline void tally::succeed(const control& c, std::uint64_t begun, std::uint64_t answered, bool is_cheap) {
  const bool in_window = c.at() == phase::measuring;
  const std::uint64_t took = answered - std::min(answered, begun);
  if (in_window) requests.add(1);
  note_long(c, took);
  if (!in_window && !(c.open_loop() && c.due_in_window(begun))) return;
  latencies.record(took);
  if (is_cheap) cheap.record(took);
}

inline void tally::note_shed(const control& c, std::uint64_t begun, std::uint64_t answered) {
  note_long(c, answered - std::min(answered, begun));
  if (c.at() == phase::measuring) ++shed;
}

// Also counts replies after the window: they are the longest.
inline void tally::note_long(const control& c, std::uint64_t took) {
  const phase now = c.at();
  if ((now == phase::measuring || now == phase::draining) && took > 1'000'000'000) ++over_1s;
}

/// One thread of load. run() returns at the end of the run, or earlier if nothing is left to do.
class worker {
 public:
  explicit worker(control& c) : control_(c) {}
  virtual ~worker() = default;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  virtual void run() = 0;
  const tally& found() const { return tally_; }

 protected:
  static constexpr std::uint64_t idle_wait_ns = 20'000'000;  ///< delay until a thread notices a new phase, at most

  /// Reports that the connections are established, and waits for the load to begin.
  void begin() {
    control_.ready.fetch_add(1);
    control_.now.wait(phase::connecting);
    last_arrival_ = now_ns();
  }
  /// Returns whether the last arrival is so long ago that missing replies count as failed.
  bool patience_is_over() const {
    return now_ns() - last_arrival_ > static_cast<std::uint64_t>(control_.patience().count());
  }
  /// Open loop: returns how long to wait for replies before a request is due.
  static std::uint64_t wait_before(std::uint64_t due) {
    const auto now = now_ns();
    return due <= now ? 0 : std::min(idle_wait_ns, due - now);
  }

  control& control_;
  tally tally_;
  std::uint64_t last_arrival_ = 0;
};

}  // namespace quintet::bench
