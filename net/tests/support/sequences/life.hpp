// SPDX-License-Identifier: BSL-1.0
// life: what is known of one connection, by those who use it; what the reference model judges by.
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

/// Which of the kinds of programs serves a connection.
enum class flavour : std::uint8_t { plain, full, classified, coroutine };
inline constexpr unsigned flavours = 4;
std::string to_string(flavour f);

/// Lives as long as the sequence, whatever becomes of the connection. Each part has one writer at a time.
struct life {
  unsigned number = 0;
  flavour kind = flavour::plain;
  bool has_client = false;  // and with it facts of the client's side

  // The program's, with the baton.
  connection_limits limits;          // as the program has asked for them
  std::function<void()> breaks_off;  // destroys the connector
  error_code why, close_reason;
  time_point last_work{}, last_other_work{}, limits_since{};
  std::uint64_t consumed = 0;        // bytes of input
  std::uint64_t written = 0;         // bytes of output that were taken
  std::vector<std::uint64_t> asked;  // for each when_sent: how much was written before
  std::size_t expected = 0;
  std::uint32_t next_command = 0, next_record = 0, next_post = 0;
  int opened = 0, closed = 0, ended = 0, asked_at_end = 0;
  bool working = false;  // a call of the handler is under way, or a coroutine has the baton
  bool waits_for_room = false;
  bool knows_of_failure = false;  // until_writable() has returned false: nothing that it writes now can leave
  bool threw = false, close_called = false, has_reason = false, refused = false;
  bool shut = false, paused = false, eof_seen = false, drain_seen = false, leaves_input = false;
  std::atomic<bool> may_drop{false};  // by one of the policies that it has had
  bool may_be_full = false;           // the same
  bool feeds = false;                 // its output is another one's input

  void note_limits() {
    may_drop = may_drop || limits.overflow == overflow_policy::drop || limits.overflow == overflow_policy::error;
    may_be_full = may_be_full || limits.overflow == overflow_policy::close;
    least_max_output = std::min(least_max_output, limits.max_output);
  }
  std::size_t least_max_output = ~std::size_t{0};

  // Its loop's.
  std::uint32_t told = 0;
  int told_at_end = 0;

  // Everybody's, under the mutex.
  std::mutex mutex;
  connection_id id;             // after on_open
  std::uint32_t next_sent = 0;  // records of senders from outside
  std::uint32_t posted = 0;
  std::uint64_t sent_from_outside = 0;  // bytes that were accepted
  bool close_asked = false, abort_asked = false;
  std::atomic<bool> over{false};     // it has ended
  bool may_miss_broadcasts = false;  // not known whether one was accepted
  bool fed = false;                  // another one is said to feed from it

  // The client's and the network's side, as seen when everything was at rest.
  std::uint64_t client_sent = 0;   // bytes
  std::uint64_t whole_lines = 0;   // bytes of the commands that are complete
  std::uint64_t due_in_drain = 0;  // the same, when the drain began
  std::uint64_t arrived = 0;       // bytes of output that have come to the client
  std::uint64_t unread = 0;        // bytes of input that the connection has not received
  std::uint64_t read = 0;          // bytes that the client has received
  static constexpr time_point never = time_point::max();
  time_point last_in{}, last_out{};
  time_point opened_at = never;      // seen
  time_point partial_since = never;  // there is input that the program has not used
  time_point unused_since = never;   // the same, and the program has looked at it
  time_point waiting_since = never;  // output waits for the client
  time_point closing_since = never;  // all output has arrived, and nothing keeps it open
  time_point due = never;            // must have ended by then
  std::uint64_t consumed_before = 0, received_before = 0, arrived_before = 0;
  bool half_closed = false, client_closed = false, client_reset = false, sent_too_much = false;
  bool judged = false;
};

/// Where the programs of a sequence are performed.
class stage {
 public:
  virtual ~stage() = default;
  /// The life of the client's place, if somebody has opened there.
  virtual life* at(unsigned place) = 0;
  virtual event_loop* loop(unsigned number) = 0;
  [[nodiscard]] virtual time_point now() const = 0;
  /// Where a client would connect to; nothing: not from here.
  virtual std::string target(bool answers) = 0;
  /// Lets the loops turn, where the caller is on another thread than theirs.
  virtual void dawdle(unsigned turns) = 0;
  /// How much output has come to the client by now, at most.
  virtual std::uint64_t arrived(const life& l) = 0;
  /// Something was not as it must be.
  void report(const life& l, const std::string& what);
  [[nodiscard]] std::string reported() const;
  std::mutex broadcasting;
  std::uint32_t next_broadcast = 0;  // under it
  std::atomic<int> timers{0};        // of the programs: what they do may be for any connection

 private:
  mutable std::mutex mutex_;
  std::string reported_;
};

/// Held while a timer of a program's is to come.
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

/// How many programs are alive: none at the end.
inline std::atomic<int> programs_alive{0};

}  // namespace quintet::testing
