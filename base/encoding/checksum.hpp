// SPDX-License-Identifier: BSL-1.0
// checksum: a fast hash of bytes, against accidents, not against attacks.
#pragma once

#include "../bytes.hpp"

#include <cstdint>

namespace quintet {

/// [any thread] Returns XXH3, 64 bits, without a seed: the same on every machine.
[[nodiscard]] std::uint64_t checksum(bytes data) noexcept;
/// [any thread] Returns the same for two pieces as if they were contiguous.
[[nodiscard]] std::uint64_t checksum(bytes first, bytes second) noexcept;

}  // namespace quintet
