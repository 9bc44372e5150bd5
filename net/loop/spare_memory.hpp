// SPDX-License-Identifier: BSL-1.0
// spare_memory: a loop's buffers and chunks for reuse; trims them after a burst.
#pragma once

#include "../../base/memory/byte_buffer.hpp"
#include "../../base/memory/byte_chain.hpp"
#include "../../base/work/timer_queue.hpp"

#include <chrono>
#include <cstddef>

namespace quintet {

class event_loop;

/// Used on the loop's thread. Its timer runs only while there is more to spare than the caches always keep.
class spare_memory final : private timer, private surplus_watcher {
 public:
  static constexpr duration trim_interval = std::chrono::seconds(1);

  /// Throws std::bad_alloc.
  spare_memory(event_loop& loop, std::size_t static_output) : buffers(this), chunks(static_output, this), loop_(loop) {}

  buffer_cache buffers;
  chunk_cache chunks;

 private:
  void on_surplus() noexcept override;
  void expired() noexcept override;

  event_loop& loop_;
};

}  // namespace quintet
