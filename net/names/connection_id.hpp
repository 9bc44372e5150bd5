// SPDX-License-Identifier: BSL-1.0
// connection_id: names a connection for ever, also when it is gone.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace quintet {

/// Connections are registered in so many shards, each with a lock of its own.
inline constexpr std::uint32_t connection_shards = 16;

/// A plain value, copied and kept as one likes: it owns nothing and points to nothing. The id of a connection that has
/// closed is never given to another one, and whoever uses it is told so (errc::no_such_connection). So is who uses it
/// with the registry of another server.
struct connection_id {
  std::uint32_t home = 0;        ///< which registry of this process, and which of its shards
  std::uint32_t slot = 0;        ///< in the shard
  std::uint64_t generation = 0;  ///< which of the connections that have had this slot; 0: none

  [[nodiscard]] explicit operator bool() const noexcept { return generation != 0; }
  friend auto operator<=>(const connection_id&, const connection_id&) = default;
};

/// As stalls and the affinity guard name it: "10.0.1", which is home, slot and generation.
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
