// SPDX-License-Identifier: BSL-1.0
// ring: one io_uring, its submissions and completions, and the thread that it belongs to.
#pragma once

#include "../../../base/clock.hpp"
#include "../../../base/error.hpp"

#include <cstdint>

#include <liburing.h>

namespace quintet::uring {

struct completion {
  std::uint64_t tag = 0;
  std::int32_t result = 0;
  std::uint32_t flags = 0;
  [[nodiscard]] bool more() const noexcept { return flags & IORING_CQE_F_MORE; }
};

/// Belongs to the thread that makes it. Nothing completes but in enter().
class ring {
 public:
  /// Throws boost::system::system_error.
  ring();
  ~ring() { io_uring_queue_exit(&ring_); }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  /// The next request, to be filled in; it is submitted by the next enter() or submit(), or when there is no room for
  /// another. nullptr: the kernel takes none now.
  [[nodiscard]] io_uring_sqe* next() noexcept;
  /// The number of the request that next() has returned last.
  [[nodiscard]] std::uint64_t number() const noexcept { return prepared_; }
  /// The kernel has not taken that request yet: it may have refused all of them, or the last ones.
  [[nodiscard]] bool is_unsubmitted(std::uint64_t number) const noexcept {
    return number > prepared_ - io_uring_sq_ready(&ring_);
  }

  void submit() noexcept;
  /// Submits, and waits for something to complete. False: the ring belongs to another thread, and is of no use here.
  bool enter(duration longest) noexcept;

  /// The kernel has been given every request, and has no completion that it found no room for.
  [[nodiscard]] bool all_told() const noexcept {
    return io_uring_sq_ready(&ring_) == 0 && !(flags() & IORING_SQ_CQ_OVERFLOW);
  }
  [[nodiscard]] unsigned ready() const noexcept { return io_uring_cq_ready(&ring_); }
  /// The oldest completion; only while ready().
  completion take() noexcept;
  /// Those that are ready, which stay so.
  template <class Function>
  void for_each_ready(Function f) {
    io_uring_cqe* at = nullptr;
    unsigned head = 0;
    io_uring_for_each_cqe(&ring_, head, at) f(completion{at->user_data, at->res, at->flags});
  }

  [[nodiscard]] io_uring& native() noexcept { return ring_; }

 private:
  [[nodiscard]] unsigned flags() const noexcept { return __atomic_load_n(ring_.sq.kflags, __ATOMIC_RELAXED); }
  int wait(duration longest) noexcept;
  io_uring_sqe* free_place() noexcept;

  io_uring ring_{};
  std::uint64_t prepared_ = 0;  // requests that next() has returned
};

/// Why this kernel has no ring of the kind that is needed (Linux 6.1 has), or nothing.
[[nodiscard]] error_code refusal() noexcept;

}  // namespace quintet::uring
