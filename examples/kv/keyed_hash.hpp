// SPDX-License-Identifier: BSL-1.0
// keyed_hash: a hash of keys that a client cannot predict.
#pragma once

#include <quintet/base/bytes.hpp>

#include <cstdint>

namespace kv {

/// [any thread] Returns XXH3, 64 bits, with a secret that the process draws from the system at its start. With a
/// predictable hash, a client could put all of its keys into one bucket, so that each lookup compares them all.
[[nodiscard]] std::uint64_t keyed_hash(quintet::bytes key) noexcept;

}  // namespace kv
