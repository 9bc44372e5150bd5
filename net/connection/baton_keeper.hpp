// SPDX-License-Identifier: BSL-1.0
// baton_keeper: a connection whose handler waits on its loop: when it keeps the baton, and when it returns it.
#pragma once

#include "connection.hpp"

#include <cstddef>
#include <utility>

namespace quintet::detail {

/// The base of stream and asio_port. Its handler always runs on the loop. It keeps the baton from the end of a read
/// until it waits in the next one, or for room; whatever else it awaits, it holds the baton.
class baton_keeper : public connection {
 protected:
  /// What differs between them.
  struct flavour {
    bool can_secure = false;    // TLS may begin in mid-stream
    bool reads_freely = false;  // output that waits for the peer does not hold reads
  };
  baton_keeper(event_loop& loop, connection_host& host, flavour of)
      : connection(loop, host,
                   {.keeps_baton = true,
                    .runs_here = true,
                    .is_watched = host.watchdog != nullptr,
                    .can_secure = of.can_secure,
                    .reads_freely = of.reads_freely}) {}
  ~baton_keeper() = default;

  // [baton], on the loop.
  /// Returns whether no more input will arrive.
  [[nodiscard]] bool is_input_finished() const noexcept {
    const input_loop_flags& in = loop_flags().input;
    return has_ended() || (((in.peer_ended && !in.was_reset) || is_drain_finished()) && !in.has_pending);
  }
  [[nodiscard]] bool at_end() const noexcept { return has_ended() || (input_.unread() == 0 && is_input_finished()); }
  /// Returns whether a message was read to its end, or something was written.
  [[nodiscard]] bool has_progressed() const noexcept { return !baton_flags().core.stalled || output_.written() > 0; }
  /// Returns whether the next read must return the baton although there is input. Reasons: more has arrived since this
  /// batch began, something waits for the baton, or output has reached a limit.
  ///
  /// Input of the current batch needs no return. Later input comes with the next batch, for which the baton is returned
  /// first. Otherwise a handler that awaits other things between reads could keep the baton as long as the peer sends.
  /// Limits, messages and the end would then be ignored.
  [[nodiscard]] bool needs_return() const noexcept {
    const connection_loop_flags& loop = loop_flags();
    const connection_baton_flags& baton = baton_flags();
    if (has_ended() || !(baton.input.has_unread || loop.input.has_pending)) return false;
    if (loop.input.has_pending || loop.handoff.has_messages || loop.handoff.close_asked) return true;
    if (heard_.is_cancelled()) return true;  // that was about the last request
    return baton.output.overflowed || baton.output.quantum_used || baton.input.paused || baton.input.starts_tls ||
           output_.is_above_watermark(*this);
  }
  /// A posted call can also hold the baton, while the handler waits.
  void hand_back() noexcept {
    note_progress(has_progressed());
    if (!is_fast_) return connection_handoff::give_back(*this);
    is_fast_ = false;
  }
  /// Another thread gets the baton for a function, perhaps.
  void lend_baton() noexcept {
    connection_handoff::lend(*this);
    if (is_fast_) output_.leave_fast_path(*this);
  }
  /// The function has returned it.
  void baton_is_back() noexcept {
    connection_handoff::take_back(*this);
    tell_of_drain();
    if (has_ended()) output_.refuse_writes(*this);
  }
  /// The handler has ended: closes the connection, or notes that it has closed already.
  void handler_ended(bool by_exception) noexcept {
    enabled_.close = false;  // nobody is left who would ask why, or who the peer was
    if (by_exception)
      connection_handoff::fail_handler(*this);
    else
      close();
    if (closing_)
      close_is_done();
    else
      hand_back();
  }
  /// [loop] An idle connection has received input. resume() lets the handler have it; nearly always the handler returns
  /// the baton before that ends.
  template <class Resume>
  [[gnu::always_inline]] void run_fast(std::size_t arrived, Resume resume) noexcept {
    begin_fast_path(arrived);
    note_progress(false);
    is_fast_ = true;
    resume();
    if (std::exchange(is_fast_, false)) {
      has_moved_ = true;
      return keep_baton(arrived);
    }
    fail_if(input_.end_batch(*this));
    fast_path_done({nullptr, arrived}, arrived, {.slow_path = true});
  }

  bool closing_ = false;    // the connection is closed; it is destroyed after the handler has ended
  bool is_fast_ = false;    // in run_fast(), until the handler returns the baton
  bool has_moved_ = false;  // bytes were read, or sent early, since the baton was returned
};

}  // namespace quintet::detail
