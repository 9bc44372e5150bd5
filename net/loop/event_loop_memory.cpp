// SPDX-License-Identifier: BSL-1.0
// event_loop_memory: trims a loop's spare buffers and chunks after a burst.
#include "event_loop.hpp"

namespace quintet {

void spare_memory::on_surplus() noexcept {
  if (!pending()) loop_.start(*this, trim_interval);
}

void spare_memory::expired() noexcept {
  const bool more_buffers = buffers.trim();
  if (chunks.trim() || more_buffers) loop_.start(*this, trim_interval);
}

}  // namespace quintet
