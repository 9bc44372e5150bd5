// SPDX-License-Identifier: BSL-1.0
// pieces: of a gathered send: how many bytes they are, and what is left when some have gone.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace quintet {

/// What one send gathers: not empty, no piece is empty, and no more than IOV_MAX. Who sends them may change them.
using output_pieces = std::span<iovec>;

inline std::size_t size_of(std::span<const iovec> pieces) noexcept {
  std::size_t sum = 0;
  for (const iovec& piece : pieces) sum += piece.iov_len;
  return sum;
}

/// Without the first `count` bytes.
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
