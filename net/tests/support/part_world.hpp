// SPDX-License-Identifier: BSL-1.0
// part_world: the surroundings for testing one part of a connection alone: a loop, a scripted engine and a context.
#pragma once

#include <quintet/net/connection/connection_context.hpp>
#include <quintet/net/connection/connection_extras.hpp>
#include <quintet/net/loop/event_loop.hpp>

#include "scripted_engine.hpp"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

namespace quintet::testing {

// Only the parts may write a connection's flags. Tests put a connection into a state by the member's address, which an
// explicit instantiation may name.
struct loop_flags_member {
  using type = detail::connection_loop_flags detail::connection_context::*;
  friend type member(loop_flags_member);
};
struct baton_flags_member {
  using type = detail::connection_baton_flags detail::connection_context::*;
  friend type member(baton_flags_member);
};
template <class Of, typename Of::type Member>
struct opened_member {
  friend typename Of::type member(Of) { return Member; }
};
template struct opened_member<loop_flags_member, &detail::connection_context::loop_flags_>;
template struct opened_member<baton_flags_member, &detail::connection_context::baton_flags_>;

inline detail::connection_loop_flags& loop_flags_of(detail::connection_context& c) {
  return c.*member(loop_flags_member());
}
inline detail::connection_baton_flags& baton_flags_of(detail::connection_context& c) {
  return c.*member(baton_flags_member());
}

/// Stands in for connection_core, and records the ends of turns.
class part_context final : public detail::connection_context {
 public:
  part_context(event_loop& loop, connection_host& host) : connection_context(loop, host, {.runs_here = true}) {}

  int turns_ended = 0;
  std::function<void()> at_turn_end;

  void on_received(bytes) override {}
  void on_receive_end(error_code) override {}
  void on_sendable() override {}
  void expired() noexcept override {}
  void turn_ends() noexcept override {
    ++turns_ended;
    if (at_turn_end) at_turn_end();
  }
  void continue_writing() noexcept override {}
};

struct part_world {
  explicit part_world(const connection_limits& limits = {}, const memory_limits& totals = {},
                      scripted_engine::journal script = {})
      : wire(std::move(script)), host(limits, totals) {}

  /// Runs f() on the loop, then the rest of the loop's turn.
  template <class F>
  void turn(F f) {
    loop.post(std::move(f));
    loop.poll();
  }

  scripted_engine::journal wire;
  manual_clock time;
  event_loop loop{std::make_unique<scripted_engine>(wire), time};
  connection_host host;
  part_context context{loop, host};
};

/// Random choices that the same seed repeats.
class random_choice {
 public:
  explicit random_choice(std::uint64_t seed) : source_(seed) {}
  /// Returns a number from 0 to `most`.
  std::size_t upto(std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(source_); }
  bool one_in(std::size_t n) { return upto(n - 1) == 0; }
  /// Returns different bytes each time, so that a test detects bytes in a wrong place.
  std::string text(std::size_t size) {
    std::string some;
    while (some.size() < size) some += std::to_string(++next_) + ",";
    some.resize(size);
    return some;
  }

 private:
  std::mt19937_64 source_;
  std::size_t next_ = 0;
};

}  // namespace quintet::testing
