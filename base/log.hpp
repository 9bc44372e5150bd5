// SPDX-License-Identifier: BSL-1.0
// log: what the library has to say to the program's own log, if it is asked to. It writes nothing anywhere itself.
#pragma once

#include "enum_names.hpp"
#include "error.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace quintet {

enum class severity {
  debug,    ///< of interest while something is being looked for
  info,     ///< the ordinary course of things: it drains, a limit ends a connection
  warning,  ///< something was refused or lost, and the rest goes on: a connection, a function that threw
  error,    ///< the server cannot do what it is there for: no descriptors to accept with
};

template <>
inline constexpr auto enum_names<severity> = std::to_array<enum_name<severity>>(
    {{severity::debug, "debug"}, {severity::info, "info"}, {severity::warning, "warning"}, {severity::error, "error"}});

/// Something that happened. The views are valid until the hook returns.
struct log_event {
  severity level = severity::info;
  std::string_view what = {};     ///< in a few words, without a full stop: "cannot accept"
  error_code reason = {};         ///< why, or no error
  std::string_view address = {};  ///< of the peer or the listener that it is about, or empty
};

/// [any thread] In one line, without a severity, a time or an end of line: "127.0.0.1:7007: cannot accept: Too many
/// open files".
[[nodiscard]] std::string to_string(const log_event& event);

/// Where events go. It belongs to one server or client, not to the process, and is called by its threads, several at
/// once: it must be safe for that. It is called where the event happens, often on a loop, so it must not block for long
/// nor call back into its owner. An empty one, which is what there is by default, costs a comparison.
using log_hook = std::function<void(const log_event&)>;

/// [any thread] Calls the hook, if there is one. A hook that throws loses the event, and nothing else happens.
void report(const log_hook& hook, const log_event& event) noexcept;

}  // namespace quintet
