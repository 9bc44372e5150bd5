// SPDX-License-Identifier: BSL-1.0
// checksum: compiles xxHash's header, only here; no library is needed at run time.
#include "checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace quintet {

std::uint64_t checksum(bytes data) noexcept { return XXH3_64bits(data.data(), data.size()); }

std::uint64_t checksum(bytes first, bytes second) noexcept {
  if (first.empty()) return checksum(second);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, first.data(), first.size());
  XXH3_64bits_update(&state, second.data(), second.size());
  return XXH3_64bits_digest(&state);
}

}  // namespace quintet
