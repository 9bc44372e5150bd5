// SPDX-License-Identifier: BSL-1.0
// coroutine_program: the program as a coroutine, which also awaits: sleeps, offloaded work, room for output.
#pragma once

#include "program.hpp"

#include <quintet/net/stream.hpp>

namespace quintet::testing {

class coroutine_program : public counted_program {
 public:
  using counted_program::counted_program;
  awaitable<> operator()(stream& s) { return run(s, *stage_, *life_); }

 private:
  static awaitable<> run(stream& s, stage& on, life& l);
};

}  // namespace quintet::testing
