// SPDX-License-Identifier: BSL-1.0
// frame_cache: recycles the memory of coroutine frames within a thread.
#pragma once

#include <cstddef>

namespace quintet::frame_cache {

/// Allocates a coroutine frame: from the thread's free list of that size class, else from the heap. Another thread may
/// release it. Throws std::bad_alloc.
void* allocate(std::size_t size);
void release(void* frame, std::size_t size) noexcept;

}  // namespace quintet::frame_cache
