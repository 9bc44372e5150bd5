// SPDX-License-Identifier: BSL-1.0
// engine_kind: the socket engines by name, and which of them are built in.
#pragma once

#include "../../base/enum_names.hpp"

#include <array>
#include <string>
#include <vector>

namespace quintet {

/// The I/O engine of a server's or a client's connections; see doc/engines.md. Connections of thread_per_connection
/// always use the blocking engine; there the kind applies to the accepting loop only.
enum class engine_kind {
  automatic,  ///< the environment variable QUINTET_ENGINE names it; otherwise epoll
  epoll,      ///< a level-triggered epoll set
  asio,       ///< documented calls of Boost.Asio only; other Asio objects on the loop need no extra wait
  uring,      ///< io_uring: system calls per turn instead of per request; built with QUINTET_ENGINE_URING
};

template <>
inline constexpr auto enum_names<engine_kind> =
    std::to_array<enum_name<engine_kind>>({{engine_kind::automatic, "automatic"},
                                           {engine_kind::epoll, "epoll"},
                                           {engine_kind::asio, "asio"},
                                           {engine_kind::uring, "uring"}});

/// [any thread] Returns the engines that are compiled in.
[[nodiscard]] std::vector<engine_kind> built_engines();
/// Throws config_error if `kind` is not compiled in, or QUINTET_ENGINE names no engine.
void validate(engine_kind kind);

namespace detail {
/// [any thread] Returns the engine that `kind` stands for, never `automatic`. Throws as validate() does.
[[nodiscard]] engine_kind resolve(engine_kind kind);
}  // namespace detail

}  // namespace quintet
