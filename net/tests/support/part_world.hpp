// SPDX-License-Identifier: BSL-1.0
// part_world: what one part of a connection needs around it: a loop over a scripted engine, and a context without a
// connection. A part is tested in it alone.
#pragma once

#include <quintet/net/connection/connection_context.hpp>
#include <quintet/net/loop/event_loop.hpp>

#include "scripted_engine.hpp"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

namespace quintet::testing {

/// In the place of connection_core. It notes what a connection would be told.
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
    extras_->end.is_scheduled = false;
    ++turns_ended;
    if (at_turn_end) at_turn_end();
  }
  void continue_writing() noexcept override {}
};

struct part_world {
  explicit part_world(const connection_limits& limits = {}, const memory_limits& totals = {},
                      scripted_engine::journal script = {})
      : wire(std::move(script)), host(limits, totals) {}

  /// f() on the loop's thread, then the end of the loop's turn.
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

/// For sequences that a seed repeats.
class random_choice {
 public:
  explicit random_choice(std::uint64_t seed) : source_(seed) {}
  /// From 0 to `most`.
  std::size_t upto(std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(source_); }
  bool one_in(std::size_t n) { return upto(n - 1) == 0; }
  /// Each time different bytes, so that bytes in a wrong place are found.
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
