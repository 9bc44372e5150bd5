// SPDX-License-Identifier: BSL-1.0
// freed_address: waits for an address that the kernel is about to free.
#pragma once

#include <chrono>
#include <thread>

namespace quintet {

/// [before run] Calls `is_free` until it returns true, for 100 ms. Returns whether it did. After the end of a process
/// that used io_uring, the kernel closes the ring's sockets in the background: for 4 to 23 ms, a server that is started
/// at once finds its address in use.
template <class F>
[[nodiscard]] bool becomes_free(F is_free) {
  for (int left = 5;; --left) {
    if (is_free()) return true;
    if (left == 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace quintet
