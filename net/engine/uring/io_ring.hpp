// SPDX-License-Identifier: BSL-1.0
// io_ring: a ring: one io_uring with its submissions and completions, bound to one thread.
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

/// Belongs to the thread that makes it. Completions appear only in enter() and in calls that submit.
class io_ring {
 public:
  /// Throws boost::system::system_error.
  io_ring();
  ~io_ring() { io_uring_queue_exit(&ring_); }
  io_ring(const io_ring&) = delete;
  io_ring& operator=(const io_ring&) = delete;

  /// Returns the next request for the caller to fill in, or nullptr if the kernel accepts none now. The next enter() or
  /// submit() submits it, or next() if the queue is full.
  [[nodiscard]] io_uring_sqe* next() noexcept;
  /// Returns the number of the request that next() returned last.
  [[nodiscard]] std::uint64_t number() const noexcept { return prepared_; }
  /// Returns whether the kernel has not accepted that request yet. It may refuse all requests, or the last ones.
  [[nodiscard]] bool is_unsubmitted(std::uint64_t number) const noexcept {
    return number > prepared_ - io_uring_sq_ready(&ring_);
  }

  /// Submits the prepared requests; those that the kernel refuses stay queued.
  void submit() noexcept;
  /// Submits, and waits for a completion. Returns false if the ring belongs to another thread, so cannot be used here.
  bool enter(duration longest) noexcept;

  /// Returns whether the kernel has accepted every request, and no completion has overflowed the queue.
  [[nodiscard]] bool all_told() const noexcept {
    return io_uring_sq_ready(&ring_) == 0 && !(flags() & IORING_SQ_CQ_OVERFLOW);
  }
  [[nodiscard]] unsigned ready() const noexcept { return io_uring_cq_ready(&ring_); }
  /// Removes and returns the oldest completion. Requires ready() > 0.
  completion take() noexcept;
  /// Calls `f` with each ready completion, without removing it.
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

/// [any thread] Returns why this kernel lacks the required kind of ring (Linux 6.1 has it), or no error.
[[nodiscard]] error_code refusal() noexcept;

}  // namespace quintet::uring
