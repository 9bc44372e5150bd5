// SPDX-License-Identifier: BSL-1.0
// life: the observed facts of one connection, from which the reference model judges it.
#pragma once

#include "step.hpp"

#include <quintet/base/clock.hpp>
#include <quintet/base/error.hpp>
#include <quintet/net/connector.hpp>
#include <quintet/net/names/connection_id.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace quintet {

class event_loop;

}  // namespace quintet

namespace quintet::testing {

/// The kind of program that serves a connection.
enum class flavour : std::uint8_t { plain, full, classified, coroutine };
inline constexpr unsigned flavours = 4;
std::string to_string(flavour f);

/// Lives as long as the sequence, also after its connection has closed. Each part has one writer at a time.
struct life {
  unsigned number = 0;
  flavour kind = flavour::plain;
  bool has_client = false;  // the fields of the client's side are valid

  // Written by the program, with the baton.
  connection_limits limits;          // as set by the program
  std::function<void()> breaks_off;  // destroys the connector
  error_code why, close_reason;
  time_point last_work{}, last_other_work{}, limits_since{};
  std::uint64_t consumed = 0;        // bytes of input
  std::uint64_t taken = 0;           // bytes that reads of a coroutine have returned
  std::uint64_t written = 0;         // bytes of output that were accepted
  std::vector<std::uint64_t> asked;  // `written` at the time of each when_sent()
  std::size_t expected = 0;
  std::uint32_t next_command = 0, next_record = 0, next_post = 0;
  int opened = 0, closed = 0, ended = 0, asked_at_end = 0;
  bool working = false;  // a call of the handler is in progress, or a coroutine has the baton
  bool waits_for_room = false;
  bool knows_of_failure = false;  // until_writable() has returned false: later output cannot be sent
  bool threw = false, close_called = false, has_reason = false, refused = false;
  bool shut = false, paused = false, eof_seen = false, drain_seen = false, leaves_input = false;
  std::atomic<bool> may_drop{false};  // one of its overflow policies so far drops output
  bool may_be_full = false;           // one of its overflow policies so far closes
  bool feeds = false;                 // has called throttle_source()

  void note_limits() {
    may_drop = may_drop || limits.overflow == overflow_policy::drop || limits.overflow == overflow_policy::error;
    may_be_full = may_be_full || limits.overflow == overflow_policy::close;
    least_max_output = std::min(least_max_output, limits.max_output);
  }
  std::size_t least_max_output = ~std::size_t{0};

  // Written on its loop.
  std::uint32_t told = 0;
  int told_at_end = 0;

  // Written by any thread, under the mutex.
  std::mutex mutex;
  connection_id id;             // after on_open
  std::uint32_t next_sent = 0;  // number of the next record sent through the registry
  std::uint32_t posted = 0;
  std::uint64_t sent_from_outside = 0;  // bytes that were accepted
  bool close_asked = false, abort_asked = false;
  std::atomic<bool> over{false};     // the connection has ended
  bool may_miss_broadcasts = false;  // a broadcast was accepted by some connections only
  bool fed = false;                  // another connection has named it in throttle_source()

  // The client's and the network's side, read when all loops are idle.
  std::uint64_t client_sent = 0;   // bytes
  std::uint64_t whole_lines = 0;   // bytes of complete commands
  std::uint64_t due_in_drain = 0;  // whole_lines when the drain began
  std::uint64_t arrived = 0;       // bytes of output that have reached the client's socket
  std::uint64_t unread = 0;        // bytes of input that the connection has not received
  std::uint64_t read = 0;          // bytes that the client has read
  static constexpr time_point never = time_point::max();
  time_point last_in{}, last_out{}, last_read{};
  time_point opened_at = never;      // first observed open
  time_point partial_since = never;  // input exists that the program has not consumed
  time_point unused_since = never;   // the same, and the program has been called with it
  time_point waiting_since = never;  // output waits for the client
  time_point closing_since = never;  // all output has arrived, and the connection is closing
  time_point due = never;            // the connection must have ended by this time
  std::uint64_t consumed_before = 0, received_before = 0, arrived_before = 0, read_before = 0;
  bool half_closed = false, client_closed = false, client_reset = false, sent_too_much = false;
  bool is_checked = false;
};

/// The environment of the programs of a sequence.
class stage {
 public:
  virtual ~stage() = default;
  /// Returns the life of the client at this place, or nullptr if none has connected there.
  virtual life* at(unsigned place) = 0;
  virtual event_loop* loop(unsigned number) = 0;
  [[nodiscard]] virtual time_point now() const = 0;
  /// Returns an address to connect to, which answers or not. Empty: programs cannot connect.
  virtual std::string target(bool answers) = 0;
  /// Runs turns of the loops, unless a loop calls it.
  virtual void dawdle(unsigned turns) = 0;
  /// Returns an upper bound of the output, in bytes, that has reached the client's socket.
  virtual std::uint64_t arrived(const life& l) = 0;
  /// Reports a violated rule.
  void report(const life& l, const std::string& what);
  [[nodiscard]] std::string reported() const;
  std::mutex broadcasting;
  std::uint32_t next_broadcast = 0;  // guarded by `broadcasting`
  std::atomic<int> timers{0};        // pending timers of programs; any connection may be affected

 private:
  mutable std::mutex mutex_;
  std::string reported_;
};

/// Counts a pending timer of a program.
class timer_note {
 public:
  explicit timer_note(stage& on) noexcept : on_(&on) { ++on.timers; }
  timer_note(timer_note&& other) noexcept : on_(std::exchange(other.on_, nullptr)) {}
  timer_note& operator=(timer_note&&) = delete;
  ~timer_note() {
    if (on_) --on_->timers;
  }

 private:
  stage* on_;
};

/// The number of living programs; 0 at the end of a sequence.
inline std::atomic<int> programs_alive{0};

}  // namespace quintet::testing
