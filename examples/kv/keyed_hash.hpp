// SPDX-License-Identifier: BSL-1.0
// keyed_hash: a hash of keys that a client cannot predict.
#pragma once

#include <quintet/base/bytes.hpp>

#include <cstdint>

namespace kv {

/// [any thread] XXH3, 64 bits, with a secret that the process draws from the system when it starts. With a hash that
/// clients can compute, one client could fill one bucket with all of its keys, so that each lookup compares them all.
[[nodiscard]] std::uint64_t keyed_hash(quintet::bytes key) noexcept;

}  // namespace kv
