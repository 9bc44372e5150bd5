// SPDX-License-Identifier: BSL-1.0
// hashes.hpp: the checksums that a message can carry: those of a published comparison, and the library's own.
#pragma once

#include <quintet/base/bytes.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace quintet::bench {

struct hash_kind {
  std::string_view name;
  std::uint64_t (*function)(bytes) = nullptr;  ///< nullptr: this CPU lacks the instruction
};

std::span<const hash_kind> hash_kinds();
/// Throws usage_error with all names.
hash_kind find_hash(std::string_view name);

/// Returns MurmurHash3_x86_32 as on a little-endian machine. The algorithm is Austin Appleby's, in the public domain:
/// https://github.com/aappleby/smhasher/wiki/MurmurHash3
std::uint32_t murmur3(bytes data, std::uint32_t seed);

/// Returns CPU nanoseconds for the hash of a message of `size` bytes, the median over stretches of many messages.
/// The messages are the parts of at least 16 KiB of random bytes, so that the branch predictor does not learn them.
double measure_hash(const hash_kind&, std::size_t size, std::chrono::nanoseconds how_long);

}  // namespace quintet::bench
