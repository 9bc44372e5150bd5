// SPDX-License-Identifier: BSL-1.0
// checksum: compiles xxHash's header, only here and in checksum_avx2.cpp; no library is needed at run time.
#include "checksum.hpp"

#include "checksum_avx2.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace quintet {
namespace {

// XXH3 takes other ways up to 240 bytes, which have no use for wider registers.
constexpr std::size_t longest_short = 240;

bool is_wide(std::size_t size) noexcept {
#ifdef QUINTET_CHECKSUM_AVX2
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  return size > longest_short && has_avx2;
#else
  return false;
#endif
}

}  // namespace

std::uint64_t checksum(bytes data) noexcept {
  return is_wide(data.size()) ? detail::checksum_avx2(data.data(), data.size(), nullptr, 0)
                              : XXH3_64bits(data.data(), data.size());
}

std::uint64_t checksum(bytes first, bytes second) noexcept {
  if (first.empty()) return checksum(second);
  if (is_wide(first.size() + second.size()))
    return detail::checksum_avx2(first.data(), first.size(), second.data(), second.size());
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, first.data(), first.size());
  XXH3_64bits_update(&state, second.data(), second.size());
  return XXH3_64bits_digest(&state);
}

}  // namespace quintet
