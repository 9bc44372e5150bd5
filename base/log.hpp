// SPDX-License-Identifier: BSL-1.0
// log: events for the program's own log, if it wants them. The library itself writes nothing.
#pragma once

#include "enum_names.hpp"
#include "error.hpp"

#include <concepts>
#include <functional>
#include <new>
#include <string>
#include <string_view>

namespace quintet {

/// How serious an event is.
enum class severity {
  debug,    ///< for debugging
  info,     ///< ordinary events: a drain, a limit that ends a connection
  warning,  ///< something was refused or lost, and the rest continues: a connection, a function that threw
  error,    ///< the server cannot do its work: no descriptors to accept with
};

template <>
inline constexpr auto enum_names<severity> = std::to_array<enum_name<severity>>(
    {{severity::debug, "debug"}, {severity::info, "info"}, {severity::warning, "warning"}, {severity::error, "error"}});

/// An event. The views are valid until the hook returns.
struct log_event {
  severity level = severity::info;  ///< how serious it is
  std::string_view what = {};       ///< in a few words, without a full stop: "cannot accept"
  error_code reason = {};           ///< why, or no error
  std::string_view address = {};    ///< of the peer or the listener concerned, or empty
};

/// [any thread] Returns one line without severity, time or line end: "127.0.0.1:7007: cannot accept: Too many open
/// files".
[[nodiscard]] std::string to_string(const log_event& event);

/// Receives events of one server or client. Its threads call the hook, several at once: the hook must be safe for that.
/// A call often runs on a loop, so the hook must not block for long nor call back into its owner. An empty hook, the
/// default, costs a comparison.
using log_hook = std::function<void(const log_event&)>;

/// [any thread] Calls the hook, if there is one. An exception from the hook loses the event, and nothing else.
void report(const log_hook& hook, const log_event& event) noexcept;

namespace detail {

/// [any thread] Logs an event with the peer's address, which `make_address` returns as a string. Without memory for the
/// address the event has none.
template <std::invocable F>
void report_of_peer(const log_hook& log, log_event event, F make_address) noexcept {
  if (!log) return;
  std::string peer;
  try {
    peer = make_address();
  } catch (const std::bad_alloc&) {  // the event matters more
  }
  event.address = peer;
  report(log, event);
}

}  // namespace detail
}  // namespace quintet
