// SPDX-License-Identifier: BSL-1.0
// checksum_avx2: the checksum of long data with the instructions of AVX2.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quintet::detail {

/// [any thread] Returns XXH3, 64 bits, of two pieces as if they were contiguous. The CPU must have AVX2.
[[nodiscard]] std::uint64_t checksum_avx2(const char* first, std::size_t first_size, const char* second,
                                          std::size_t second_size) noexcept;

}  // namespace quintet::detail
