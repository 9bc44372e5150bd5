// SPDX-License-Identifier: BSL-1.0
// filter: how the bytes of one stream are transformed on the way.
#pragma once

#include "../../../base/error.hpp"
#include "../../../base/memory/byte_buffer.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace quintet {

struct tls_info;

/// Turns records, which are on the wire, into plain bytes and back. It belongs to one stream, moves with it from loop
/// to loop, and does no I/O. All functions: [loop].
class filter {
 public:
  filter(const filter&) = delete;
  filter& operator=(const filter&) = delete;
  virtual ~filter() = default;

  struct result {
    std::size_t consumed = 0, produced = 0;
    bool ended = false;      ///< decrypt(): the record that ends the stream has come
    error_code failed = {};  ///< the stream is broken; what was produced before is valid
  };
  /// Decrypts the records at the beginning of `in`. It may consume a part of a record, and keep plain bytes for which
  /// `out` has no room. The caller presents again what was not consumed, with more behind it. If the call has filled
  /// `out`, the caller calls again, perhaps with an empty `in`; otherwise it has decrypted all that was there.
  virtual result decrypt(bytes in, std::span<char> out) noexcept = 0;
  /// Makes records of as much of `in` as `out` has room for. `out` has room for one byte in a record, and `in` has one.
  virtual result encrypt(bytes in, std::span<char> out) noexcept = 0;
  /// Makes the record that ends the stream. Called once.
  virtual result finish(std::span<char> out) noexcept = 0;
  /// Returns what the handshake has found out, which never changes; null: there was none.
  [[nodiscard]] virtual std::shared_ptr<const tls_info> info() const noexcept { return nullptr; }

 protected:
  filter() = default;
};

}  // namespace quintet
