// SPDX-License-Identifier: BSL-1.0
// keyed_hash: XXH3 with a random secret per process. A seed would give a secret of only 64 bits.
#include "keyed_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <system_error>

#include <unistd.h>

namespace kv {
namespace {

using secret_bytes = std::array<unsigned char, XXH3_SECRET_DEFAULT_SIZE>;
// The limit of getentropy() is 256 bytes.
static_assert(XXH3_SECRET_DEFAULT_SIZE >= XXH3_SECRET_SIZE_MIN && XXH3_SECRET_DEFAULT_SIZE <= 256);

secret_bytes draw() {
  secret_bytes drawn{};
  if (::getentropy(drawn.data(), drawn.size()) != 0)
    throw std::system_error(errno, std::generic_category(), "kv: cannot get random bytes");
  return drawn;
}

const secret_bytes secret = draw();

}  // namespace

std::uint64_t keyed_hash(quintet::bytes key) noexcept {
  return XXH3_64bits_withSecret(key.data(), key.size(), secret.data(), secret.size());
}

}  // namespace kv
