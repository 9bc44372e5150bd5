// SPDX-License-Identifier: BSL-1.0
// checksum: a fast hash of bytes, against accidents and not against intent.
#pragma once

#include "../bytes.hpp"

#include <cstdint>

namespace quintet {

/// [any thread] XXH3, 64 bits, without a seed: the same on every machine.
[[nodiscard]] std::uint64_t checksum(bytes data) noexcept;
/// The same of two pieces as if they lay in one.
[[nodiscard]] std::uint64_t checksum(bytes first, bytes second) noexcept;

}  // namespace quintet
