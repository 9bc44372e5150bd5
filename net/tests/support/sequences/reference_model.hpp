// SPDX-License-Identifier: BSL-1.0
// reference_model: checks a connection against the calls made on it, without knowledge of the implementation.
#pragma once

#include "life.hpp"

namespace quintet::testing {

class reference_model {
 public:
  reference_model(const setting& s, stage& on) : setting_(s), stage_(on) {}

  /// The state of the server.
  bool draining = false, stopping = false;

  /// Checks a connection while all loops are idle. `ended`: the client has received everything, and the end of the
  /// stream or a reset.
  void check(life& l, bool ended);
  /// Call it before time passes. Computes the latest time at which the connection must have ended.
  void predict(life& l) const;
  /// Checks the reason that on_close got.
  void check_reason(const life& l) const;
  /// Checks a connection after the end of the server.
  void check_remains(const life& l) const;
  /// The sequence number that the client expects next from each writer.
  struct received {
    std::uint32_t next_written = 0, next_sent = 0, next_broadcast = 0;
  };
  void check_record(const life& l, received& so_far, char writer, std::uint32_t sequence) const;
  /// Checks the end of the stream, after the client has received everything. `is_within`: the last record is cut.
  void check_tail(const life& l, const received& so_far, bool is_within, bool was_reset) const;

 private:
  [[nodiscard]] static bool is_open(const life& l) { return l.opened > 0 && l.closed + l.ended == 0; }
  /// No handler runs; a coroutine waits for its connection.
  [[nodiscard]] static bool rests(const life& l) { return !l.working; }
  [[nodiscard]] static bool closes(const life& l) { return l.close_called || l.close_asked || l.abort_asked; }
  [[nodiscard]] bool is_window_full(const life& l) const { return l.arrived - l.read >= setting_.window; }
  [[nodiscard]] bool has_left(const life& l) const {
    if (l.arrived >= l.written + l.sent_from_outside) return true;
    const bool drops = l.shut || closes(l) || draining;  // messages from outside may come too late
    return drops && !is_window_full(l) && l.arrived >= l.written;
  }
  /// Nothing prevents input from reaching the program.
  [[nodiscard]] bool takes_input(const life& l) const {
    return rests(l) && !closes(l) && !draining && !l.paused && !l.waits_for_room && !l.fed && has_left(l);
  }
  /// The program has ended, and the connection has not failed.
  [[nodiscard]] static bool has_ended_in_order(const life& l) {
    return l.closed + l.ended > 0 && (!l.why || l.why == errc::end_of_stream);
  }
  /// A policy, an exception or a closed client may lose output. No promise covers the last bytes then.
  [[nodiscard]] static bool can_lose_output(const life& l) {
    return l.may_drop || l.refused || l.threw || l.client_closed;
  }
  void observe(life& l, time_point now) const;
  void check_output(const life& l) const;
  void check_input(const life& l) const;
  void check_held_input(const life& l) const;
  void check_end(life& l, bool ended) const;
  void check_after_end(const life& l, bool ended) const;
  void check_drain(const life& l) const;
  [[nodiscard]] bool is_allowed(const life& l, const error_code& why) const;
  [[nodiscard]] bool is_late_enough(const life& l, const error_code& why) const;
  void require(const life& l, bool holds, const char* otherwise) const {
    if (!holds) stage_.report(l, otherwise);
  }

  const setting& setting_;
  stage& stage_;
};

}  // namespace quintet::testing
