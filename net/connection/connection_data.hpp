// SPDX-License-Identifier: BSL-1.0
// connection_data: what a connection is made of, in an order that leaves no holes.
#pragma once

#include "../../base/memory/buffer_cache.hpp"
#include "../../base/memory/byte_chain.hpp"
#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"
#include "../watch/affinity_guard.hpp"
#include "connection_host.hpp"
#include "connection_state.hpp"

#include <memory>
#include <string>

namespace quintet::detail {

/// Behind each member stands whose it is: the loop's, or of whoever has the baton. A work item, since that is what the
/// baton is; the members begin in its padding.
class connection_data : public work_item {
 protected:
  using wishes = connection_wishes;
  using settings = connection_settings;
  using turn_end = connection_turn_end;
  using loop_extras = connection_loop_extras;
  using baton_extras = connection_baton_extras;

  connection_data(function to_run, function on_handoff, event_loop& loop, connection_host& host, bool keeps_baton,
                  bool runs_here) noexcept
      : work_item(to_run, on_handoff),
        keeps_baton_(keeps_baton),
        runs_here_(runs_here),
        is_watched_(host.watchdog != nullptr),
        loop_(loop),
        host_(host) {
    state_.takes_detours = always_takes_detours();
  }
  ~connection_data() = default;

  /// Nothing but the baton's coming and going is under way: true for nearly every batch, which then goes the short way.
  [[nodiscard]] bool is_calm() const noexcept { return state_.none() && baton_.none(); }
  [[nodiscard]] bool is_calm_but_for_detours() const noexcept { return state_.none_but_detours() && baton_.none(); }
  [[nodiscard]] bool always_takes_detours() const noexcept {
    return keeps_baton_ || !runs_here_ || is_watched_ || told_.urgent;
  }
  /// What every function that users call with the baton begins with, in one way or the other.
  void check_held(const affinity_guard::place& by = affinity_guard::place::current()) const noexcept {
    guard_.check_baton(id_, by);
  }
  connection_baton_flags& held(const affinity_guard::place& by = affinity_guard::place::current()) noexcept {
    check_held(by);
    return baton_;
  }
  [[nodiscard]] const connection_baton_flags& held(
      const affinity_guard::place& by = affinity_guard::place::current()) const noexcept {
    check_held(by);
    return baton_;
  }
  /// [loop], or with the baton.
  [[nodiscard]] std::string peer() const { return handle_ < 0 ? std::string() : loop_.io().peer_address(handle_); }
  /// [loop], or with the baton.
  [[nodiscard]] const connection_limits& applied_limits() const noexcept { return own_ ? own_->limits : host_.limits; }
  [[nodiscard]] std::size_t expected() const noexcept { return baton_.expects ? baton_extras_->expected : 0; }
  [[nodiscard]] bool is_expecting_more() const noexcept { return input_buffer_.size() < expected(); }
  static constexpr std::size_t worth_its_place = 16 * 1024;  ///< so much missing is received straight into the input
  [[nodiscard]] bool is_stuck() const noexcept {
    return state_.above_watermark && applied_limits().full == when_full::pause;
  }
  [[nodiscard]] bool holds_input() const noexcept {
    return baton_.wants_writable || is_stuck() || baton_.pause_wanted || state_.held;
  }
  /// [loop] The server does not look at input now: the time is not the peer's. In model 1 the thread sits in send()
  /// while output waits.
  [[nodiscard]] bool looks_away() const noexcept {
    return holds_input() || baton_.close_wanted || (state_.sending && loop_.io().waits_in_send());
  }
  // [baton], of a coroutine's connection: on the loop.
  /// Nothing will arrive any more.
  [[nodiscard]] bool nothing_will_arrive() const noexcept {
    return state_.failing || ((state_.receive_ended || drained_) && !state_.has_ahead);
  }
  [[nodiscard]] bool at_end() const noexcept {
    return state_.failing || (nothing_will_arrive() && input_buffer_.empty());
  }
  [[nodiscard]] bool has_input() const noexcept { return baton_.has_input; }
  /// Input was used up to the end of a message, or something was written.
  [[nodiscard]] bool has_got_on() const noexcept { return got_on_ || !output_.empty(); }
  /// Whether the next read has to give the baton back, although there is input: more has arrived since this batch
  /// began, something waits for the baton, or as much is written as one may before others have their turn.
  [[nodiscard]] bool needs_return() const noexcept {
    if (state_.failing || !(baton_.has_input || state_.has_ahead)) return false;
    return state_.has_ahead || state_.has_messages || state_.close_asked || baton_.overflowed || baton_.had_its_share ||
           baton_.pause_wanted || is_above_watermark();
  }
  [[nodiscard]] bool is_above_watermark() const noexcept {
    return output_.size() + waiting_now() > applied_limits().high_watermark;
  }
  [[nodiscard]] std::size_t waiting_now() const noexcept {
    if (loop_.in_this_thread()) return sending_.size();
    return baton_extras_ ? baton_extras_->waiting : 0;
  }
  [[nodiscard]] connection_deadlines* deadlines() const noexcept {
    return extras_ ? extras_->deadlines.get() : nullptr;
  }
  /// [loop] Something has arrived.
  void note_received(std::size_t count) noexcept {
    loop_.counters().received(count);
    silence_or_reason_.silence.ends();
  }

  connection_loop_flags state_;   // loop
  connection_baton_flags baton_;  // baton
  const bool keeps_baton_ : 1;
  const bool runs_here_ : 1;
  const bool is_watched_ : 1;
  bool can_move_ : 1 = false;  // constant once it is made, so any thread may look
  bool : 0;
  bool input_is_lent_ : 1 = false;  // baton: the batch is the engine's, and its loop's for now
  bool got_on_ : 1 = false;         // baton: input was used, or something was written; kept for deadlines
  bool incomplete_ : 1 = false;     // baton: the batch has ended within a message, which
  bool begun_anew_ : 1 = false;     // baton: has begun in this batch; both for deadlines
  bool lost_batch_ : 1 = false;     // baton: there was no memory to hand the batch over
  bool begun_ = false;              // the handler knows of it, and will be told of its end
  int handle_ = -1;                 // open until the baton is at home for the last time
  union silence_or_reason {
    connection_silence silence{};  // until it leaves the registry
    int reason;                    // loop: afterwards
  };
  silence_or_reason silence_or_reason_;
  bool stays_half_open_ : 1 = false;  // loop: the handler was told of the end of input, and will close
  bool drained_ : 1 = false;          // loop: everything that had been received when draining began has been
  bool settling_ : 1 = false;         // loop: settle() is on the stack
  bool has_unseen_ : 1 = false;       // loop: a coroutine gave the baton back before it looked at all input
  bool refuses_sends_ = false;        // the registry's, under its lock
  wishes told_;                       // each is cleared when it has been fulfilled
  event_loop& loop_;
  connection_host& host_;
  connection_id id_;
  const boost::system::error_category* reason_category_ = &boost::system::system_category();
  byte_chain output_;                           // baton: written by the handler
  byte_chain sending_;                          // loop: on its way to the kernel
  cached_buffer input_buffer_;                  // baton: input that is unused
  cached_buffer ahead_;                         // loop: arrived while the baton was out
  std::unique_ptr<settings> own_;               // changed by the loop while the baton is at home
  std::unique_ptr<loop_extras> extras_;         // loop
  std::unique_ptr<baton_extras> baton_extras_;  // baton
  [[no_unique_address]] affinity_guard guard_;  // who has the baton
};

}  // namespace quintet::detail
