// SPDX-License-Identifier: BSL-1.0
// loop_options: options of an event loop, and the engines by name.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/enum_names.hpp"

#include <array>
#include <cstddef>
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

/// Settings of all loops of a server or a client.
struct loop_tuning {
  /// The longest time that a loop spins before it sleeps. It spins only while that pays, see spin_budget; at most
  /// 100 ms. Zero: it sleeps at once.
  duration spin = duration::zero();
  /// Bytes of send buffers that a loop allocates at its start and keeps. Output that waits uses them before the heap.
  /// Beyond them, buffers are allocated when needed. A loop keeps 1 MiB of them, and up to 17 MiB after a burst.
  std::size_t static_output = 0;
  /// Bytes that one receive call takes at most: from 1 to 64 KiB. A smaller value shortens a connection's turn, and
  /// costs more calls. Calls for the rest of a big message may take more, see doc/codecs.md.
  std::size_t receive_size = 64 * 1024;
  /// The loop also serves connections over shared memory, see doc/shared_memory.md. A server with a listener that
  /// offers them, and a client that asks for them, set it for all their loops.
  bool shared_memory = false;
  /// Set by the library: the loop also serves streams that carry a filter.
  bool filters = false;
  /// Look-ups of host names that may be in progress in the process before one of this loop has to wait: from 1 to 1024.
  /// Each occupies a thread. Those that have taken a second do not count, up to 8 times as many; equal ones share one.
  std::size_t max_lookups = 16;
};

/// Settings of one loop.
struct loop_options {
  loop_tuning tuning = {};  ///< spinning and buffers
  int cpu = -1;             ///< the loop's thread runs on this CPU only; -1: the system decides
  /// The loop's thread has its own table of descriptors, so RLIMIT_NOFILE applies to each loop instead of the process;
  /// see placement_options::own_descriptors.
  bool own_descriptors = false;
};

/// [any thread] Throws config_error. `max_output_total`: see memory_limits.
void validate(const loop_tuning& tuning, std::size_t max_output_total);

}  // namespace quintet
