// SPDX-License-Identifier: BSL-1.0
// connection_context: what the parts of a connection share: the loop, the handle, the flags, limits and extras.
#pragma once

#include "../../base/error.hpp"
#include "../loop/event_loop.hpp"
#include "../watch/affinity_guard.hpp"
#include "connection_extras.hpp"
#include "connection_flags.hpp"
#include "connection_host.hpp"
#include "connection_silence.hpp"

#include <memory>
#include <string>

namespace quintet::detail {

/// Each part gets it with each call, so that it needs no pointer of its own. Each flag is written by the part that it
/// is named after; the coordinator (connection_core) writes those of the handoff and the phase.
class connection_context : public stream_channel {
 public:
  connection_context(const connection_context&) = delete;
  connection_context& operator=(const connection_context&) = delete;

  /// Nothing but the baton's coming and going is in progress: true for nearly every batch, which then takes the fast
  /// path. The baton's flags are read only while the baton is at home.
  [[nodiscard]] bool is_idle() const noexcept { return loop_flags_.none() && baton_flags_.none(); }
  [[nodiscard]] bool is_idle_but_for_slow_path() const noexcept {
    return loop_flags_.none_but_slow_path() && baton_flags_.none();
  }
  [[nodiscard]] bool has_ended() const noexcept { return loop_flags_.phase == connection_phase::ended; }
  [[nodiscard]] bool is_lingering() const noexcept { return loop_flags_.phase == connection_phase::lingering; }
  [[nodiscard]] bool is_draining() const noexcept { return loop_flags_.phase == connection_phase::draining; }
  /// Whether close() was accepted.
  [[nodiscard]] bool is_closing() const noexcept { return loop_flags_.phase >= connection_phase::closing; }
  [[nodiscard]] bool baton_is_out() const noexcept { return loop_flags_.handoff.baton_out; }

  /// What every function that users call with the baton begins with, in one way or the other.
  void check_held(const affinity_guard::place& by = affinity_guard::place::current()) const noexcept {
    guard_.check_baton(id_, by);
  }
  connection_baton_flags& held(const affinity_guard::place& by = affinity_guard::place::current()) noexcept {
    check_held(by);
    return baton_flags_;
  }
  [[nodiscard]] const connection_baton_flags& held(
      const affinity_guard::place& by = affinity_guard::place::current()) const noexcept {
    check_held(by);
    return baton_flags_;
  }
  /// [loop], or with the baton.
  [[nodiscard]] std::string peer() const {
    return handle_ < 0 ? std::string() : loop_.io().sockets().peer_address(handle_);
  }
  /// [loop], or with the baton.
  [[nodiscard]] const connection_limits& applied_limits() const noexcept { return own_ ? own_->limits : host_.limits; }
  [[nodiscard]] connection_deadlines* deadlines() const noexcept {
    return extras_ ? extras_->deadlines.get() : nullptr;
  }
  /// [loop, baton] The output is above its high watermark, and the policy is to stop reading.
  [[nodiscard]] bool is_stuck() const noexcept {
    return loop_flags_.output.above_watermark && applied_limits().overflow == overflow_policy::pause;
  }
  /// [loop, baton] Input is not shown to the handler now.
  [[nodiscard]] bool holds_input() const noexcept {
    return baton_flags_.handoff.wants_writable || is_stuck() || baton_flags_.input.paused ||
           loop_flags_.input.throttled;
  }
  /// [loop] Input that arrives becomes pending. Nothing overtakes pending input. The baton's flags are read only while
  /// the baton is at home.
  [[nodiscard]] bool queues_input() const noexcept {
    return baton_is_out() || loop_flags_.input.has_pending || holds_input();
  }
  /// [loop, baton] There is input that the handler has not been shown.
  [[nodiscard]] bool has_unseen_input() const noexcept { return loop_flags_.input.has_pending || has_unseen_; }
  /// [loop, baton] The connection drains, and the handler has seen all that it is to see.
  [[nodiscard]] bool is_drain_finished() const noexcept;
  /// [loop, baton] classify() has seen input, and has not decided.
  [[nodiscard]] bool is_undecided() const noexcept { return enabled_.classify && baton_flags_.input.has_unread; }
  /// [loop] on_writable is in the loop's queue of fair tasks.
  [[nodiscard]] bool is_scheduled_fair() const noexcept {
    return extras_ && static_cast<const fair_task&>(*extras_).is_linked();
  }
  /// [loop] Another loop is to take the connection over.
  [[nodiscard]] bool has_migration_target() const noexcept { return extras_ && extras_->migrates_to; }
  /// [loop, baton] The server does not look at input now: the time is not the peer's. In model 1 the thread sits in
  /// send() while output waits.
  [[nodiscard]] bool looks_away() const noexcept {
    return holds_input() || is_closing() || (loop_flags_.output.is_queued && loop_.io().capabilities().blocking_send);
  }
  /// [loop] Starts the timer if it would fire after the next deadline. If it fires before, expired() starts it again.
  void watch_time() noexcept;

  /// [loop] Whether the loop's extras are there; makes them. False: there is no memory.
  [[nodiscard]] bool make_extras() noexcept;
  /// [baton] The same of the baton's extras.
  [[nodiscard]] bool make_baton_extras() noexcept;
  /// [baton] The same where the caller may be told that there is no memory: throws std::bad_alloc.
  connection_baton_extras& extras_of_baton();

  // What the loop's extras wait for. The coordinator (connection_core) decides what that means.
  /// [loop] The timer has fired.
  virtual void expired() noexcept = 0;
  /// [loop] The loop's turn ends, and connection_loop_extras::end was deferred in it.
  virtual void turn_ends() noexcept = 0;
  /// [loop] The quantum of a connection that writes much has come.
  virtual void continue_writing() noexcept = 0;

  // Behind the channel, in its padding.
  const handoff_constants constants_;
  alignas(4) connection_loop_flags loop_flags_;
  connection_baton_flags baton_flags_;
  int handle_ = -1;  // open until the baton is at home for the last time
  event_loop& loop_;
  connection_host& host_;
  connection_id id_;
  connection_silence silence_;
  batch_flags batch_;                               // baton
  enabled_callbacks enabled_;                       // loop
  bool refuses_sends_ = false;                      // the registry's, under its lock
  bool is_open_ = false;                            // loop, before the first batch: the handler will be told of the end
  bool has_unseen_ = false;                         // loop: a coroutine returned the baton before it saw all input
  std::unique_ptr<connection_settings> own_;        // changed by the loop while it has the baton
  std::unique_ptr<connection_loop_extras> extras_;  // loop
  std::unique_ptr<connection_baton_extras> baton_extras_;  // baton
  [[no_unique_address]] affinity_guard guard_;             // who has the baton

 protected:
  connection_context(event_loop& loop, connection_host& host, handoff_constants constants) noexcept
      : constants_(constants), loop_(loop), host_(host) {}
  ~connection_context() = default;
};

/// Why a connection has to end, or nothing. Returned in registers, as an error_code is not.
class [[nodiscard]] end_reason {
 public:
  constexpr end_reason() noexcept = default;
  end_reason(const error_code& why) noexcept : value_(why.value()), category_(why ? &why.category() : nullptr) {}
  end_reason(errc why) noexcept : end_reason(error_code(why)) {}
  explicit operator bool() const noexcept { return category_ != nullptr; }
  [[nodiscard]] error_code code() const noexcept { return category_ ? error_code(value_, *category_) : error_code(); }

 private:
  int value_ = 0;
  const boost::system::error_category* category_ = nullptr;
};

inline error_code no_memory() noexcept { return make_error_code(boost::system::errc::not_enough_memory); }

}  // namespace quintet::detail
