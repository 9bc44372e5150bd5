// SPDX-License-Identifier: BSL-1.0
// connection_id: identifies a connection for ever, also after its end.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace quintet {

/// The number of shards of a connection registry; each has its own lock.
inline constexpr std::uint32_t connection_shards = 16;

/// [any thread] A plain value that owns nothing. A closed connection's id is never reused: using it fails with
/// errc::no_such_connection. So does using an id with another server's registry.
struct connection_id {
  std::uint32_t home = 0;        ///< registry number in this process * connection_shards + shard
  std::uint32_t slot = 0;        ///< in the shard
  std::uint64_t generation = 0;  ///< counts the connections in this slot; 0: no connection

  /// Returns whether it names a connection, open or closed.
  [[nodiscard]] explicit operator bool() const noexcept { return generation != 0; }
  /// Orders ids, for containers; the order means nothing.
  friend auto operator<=>(const connection_id&, const connection_id&) = default;
};

/// Returns "home.slot.generation", such as "10.0.1", for reports of stalls and of the affinity guard.
[[nodiscard]] inline std::string to_string(const connection_id& id) {
  return std::to_string(id.home) + '.' + std::to_string(id.slot) + '.' + std::to_string(id.generation);
}

}  // namespace quintet

template <>
struct std::hash<quintet::connection_id> {
  std::size_t operator()(const quintet::connection_id& id) const noexcept {
    return std::hash<std::uint64_t>()(id.generation * 0x9e3779b97f4a7c15U ^
                                      (std::uint64_t{id.home % quintet::connection_shards} << 32U | id.slot));
  }
};
