// SPDX-License-Identifier: BSL-1.0
// engine_kind: the engines for sockets by name, which of them there are here, and making one.
#pragma once

#include <quintet/base/log.hpp>
#include <quintet/net/engine.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

inline constexpr std::array all_engine_kinds{engine_kind::automatic, engine_kind::epoll, engine_kind::asio,
                                             engine_kind::uring};

/// The enumerator's name, as on every command line and in the log.
[[nodiscard]] std::string_view to_string(engine_kind kind) noexcept;
/// From a name; nothing for any other text.
[[nodiscard]] std::optional<engine_kind> engine_from_string(std::string_view text) noexcept;

/// [any thread] Those that are compiled in.
[[nodiscard]] std::vector<engine_kind> built_engines();
/// Throws config_error if it is not compiled in, or QUINTET_ENGINE names none.
void validate(engine_kind kind);
/// [any thread] Why this kernel refuses the engine, or nothing if it does not. Asks the kernel once for each process.
/// Throws what validate() does.
[[nodiscard]] error_code refused_by_kernel(engine_kind kind);

/// [any thread] One for each loop. Where the kernel refuses io_uring, epoll takes its place and the log is told. Throws
/// config_error if it is not compiled in, and boost::system::system_error if descriptors or memory have run out.
[[nodiscard]] std::unique_ptr<engine> make_engine(engine_kind kind, const log_hook& log = {});

}  // namespace quintet
