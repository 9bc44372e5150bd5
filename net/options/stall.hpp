// SPDX-License-Identifier: BSL-1.0
// stall: a report of a function that keeps a thread busy for long, and its options.
#pragma once

#include "../../base/clock.hpp"
#include "../names/connection_id.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace quintet {

/// A thread that has run one function of the program for longer than the bound. The views are valid until the hook
/// returns. Unknown facts are empty: a thread that blocks the watchdog's signal, or that sleeps in the kernel where no
/// signal reaches it, has only a name.
struct stall {
  std::string_view thread = {};                 ///< its name: "qnt-loop-0"
  duration lasted = duration::zero();           ///< so far; a lower bound
  std::string_view call = {};                   ///< "input", "on_open", "coroutine", "a timer", ...; see callback
  std::string_view function = {};               ///< the type of the handler or function: "chat::session"
  connection_id connection = {};                ///< of the handler, if a connection's handler runs
  std::string_view peer = {};                   ///< of that connection, unless it has closed
  std::span<const std::string> backtrace = {};  ///< functions, or addresses in files; innermost first
};

/// [any thread] Returns one line, without the peer: "qnt-loop-0 is stalled: for 210 ms in input of chat::session,
/// connection 16.0.1, at nanosleep < chat::room::tell < ...".
[[nodiscard]] std::string to_string(const stall& s);

/// Called by the watchdog's thread during the stall. It may block; its exceptions are ignored.
using stall_hook = std::function<void(const stall&)>;

/// Returns the environment variable QUINTET_STALL_BOUND, in milliseconds. Without it, returns the default of the build:
/// zero, and 200 ms in the preset `dev`. Throws config_error if the variable is not a number.
[[nodiscard]] duration default_stall_bound();

/// A server with a bound and a receiver (a hook or a log) has one more thread, which wakes up twice in each bound. See
/// doc/stalls.md.
struct stall_options {
  duration bound = default_stall_bound();  ///< at least 1 ms; zero: no watchdog
  stall_hook on_stall = {};
};

/// [any thread] Throws config_error.
void validate(const stall_options& options);

}  // namespace quintet
