// SPDX-License-Identifier: BSL-1.0
// frame_cache: recycles the memory of coroutine frames within a thread.
#pragma once

#include <cstddef>

namespace quintet::frame_cache {

/// Storage for a coroutine frame: from the thread's free lists when they hold a block of that size class, else from
/// the heap. Blocks may be released on another thread than the one that took them.
void* allocate(std::size_t size);
void release(void* frame, std::size_t size) noexcept;

}  // namespace quintet::frame_cache
