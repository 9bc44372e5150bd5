// SPDX-License-Identifier: BSL-1.0
// stall: what a server tells of a handler that keeps a thread busy for long, and when it does.
#pragma once

#include "../../base/clock.hpp"
#include "../names/connection_id.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace quintet {

/// A thread that has been in one call of the program's for longer than the bound. The views are valid until the hook
/// returns. What could not be learnt is empty: a thread that has blocked the signal by which it is asked, or that the
/// kernel does not let go, says nothing but its name.
struct stall {
  std::string_view thread = {};                 ///< its name: "qnt-loop-0"
  duration lasted = duration::zero();           ///< so far, at least
  std::string_view call = {};                   ///< "input", "on_open", "coroutine", "a timer", ...; see callback
  std::string_view function = {};               ///< the type of what was called: "chat::session"
  connection_id connection = {};                ///< whose handler it is, if it is a connection's
  std::string_view peer = {};                   ///< of that connection, if it has not closed
  std::span<const std::string> backtrace = {};  ///< functions, or places in files; innermost first
};

/// [any thread] In one line, without the peer: "qnt-loop-0 has been stalled for 210 ms in input of chat::session,
/// connection 16.0.1, at nanosleep < chat::room::tell < ...".
[[nodiscard]] std::string to_string(const stall& s);

/// Called by the watchdog's thread, while the stall goes on. It may take its time and may throw; what it lets out is
/// ignored.
using stall_hook = std::function<void(const stall&)>;

/// What the environment says as QUINTET_STALL_BOUND, in milliseconds; else what the library was built with: zero, but
/// 200 ms in the preset `dev`. Throws config_error if the environment says anything else than a number.
[[nodiscard]] duration default_stall_bound();

/// A server that has a bound and somebody to tell, a hook or a log, has a thread more, which wakes up twice in each
/// bound. See doc/stalls.md.
struct stall_options {
  duration bound = default_stall_bound();  ///< at least 1 ms; zero: nobody watches
  stall_hook on_stall = {};
};

/// Throws config_error.
void validate(const stall_options& options);

}  // namespace quintet
