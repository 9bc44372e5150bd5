// SPDX-License-Identifier: BSL-1.0
// engine_kind: the engines for sockets by name, and which of them are built in.
#pragma once

#include "../../base/enum_names.hpp"

#include <array>
#include <string>
#include <vector>

namespace quintet {

/// What moves the bytes of a server's or a client's connections; see doc/engines.md. The connections of
/// thread_per_connection have an engine of their own, which blocks, and the kind is that of the loop that accepts.
enum class engine_kind {
  automatic,  ///< what the environment variable QUINTET_ENGINE names; without it epoll
  epoll,      ///< a level-triggered epoll set
  asio,       ///< documented calls of Boost.Asio only; Asio's other clients on the loop cost no wait of their own
  uring,      ///< io_uring: system calls for a turn instead of for a request; built with QUINTET_ENGINE_URING
};

template <>
inline constexpr auto enum_names<engine_kind> =
    std::to_array<enum_name<engine_kind>>({{engine_kind::automatic, "automatic"},
                                           {engine_kind::epoll, "epoll"},
                                           {engine_kind::asio, "asio"},
                                           {engine_kind::uring, "uring"}});

/// [any thread] Those that are compiled in.
[[nodiscard]] std::vector<engine_kind> built_engines();
/// Throws config_error if it is not compiled in, or QUINTET_ENGINE names none.
void validate(engine_kind kind);

namespace detail {
/// [any thread] The engine that `kind` stands for: never `automatic`. Throws what validate() does.
[[nodiscard]] engine_kind resolve(engine_kind kind);
}  // namespace detail

}  // namespace quintet
