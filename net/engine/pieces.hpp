// SPDX-License-Identifier: BSL-1.0
// pieces: the pieces of a gathered send: their size, and the rest after a partial send.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace quintet {

/// The pieces of one send: at least one, at most IOV_MAX, none empty. The callee may change them.
using output_pieces = std::span<iovec>;

/// Returns the number of bytes in all pieces.
inline std::size_t size_of(std::span<const iovec> pieces) noexcept {
  std::size_t sum = 0;
  for (const iovec& piece : pieces) sum += piece.iov_len;
  return sum;
}

/// Removes the first `count` bytes.
inline void remove_prefix(output_pieces& pieces, std::size_t count) noexcept {
  while (!pieces.empty()) {
    iovec& first = pieces.front();
    const std::size_t here = std::min(count, first.iov_len);
    first.iov_base = static_cast<char*>(first.iov_base) + here;
    first.iov_len -= here;
    count -= here;
    if (first.iov_len > 0) return;
    pieces = pieces.subspan(1);
  }
}

}  // namespace quintet
