// SPDX-License-Identifier: BSL-1.0
// io_ring: sets up an io_uring, submits and waits.
#include "io_ring.hpp"

#include "../engine.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <boost/system/system_error.hpp>

namespace quintet::uring {
namespace {

constexpr unsigned submissions = 1024;
constexpr unsigned completions = 4096;

// SUBMIT_ALL: a bad request does not stop the requests behind it. TASKRUN_FLAG: a flag in shared memory tells whether
// the kernel has work for this thread.
constexpr unsigned setup = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
                           IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;

int begin(io_uring& ring, unsigned entries, unsigned results) noexcept {
  io_uring_params parameters{};
  parameters.flags = setup;
  parameters.cq_entries = results;
  return -io_uring_queue_init_params(entries, &ring, &parameters);
}

/// Returns whether descriptors or memory have run out. Such an error says nothing about the kernel's features.
bool is_shortage(int error) noexcept { return error == EMFILE || error == ENFILE || error == ENOMEM; }

error_code ask() noexcept {
  io_uring ring{};
  if (const int error = begin(ring, 8, 16)) return system_error_code(error);
  // DEFER_TASKRUN (6.1) implies all features used here, except operations that a kernel can omit individually.
  io_uring_probe* const known = io_uring_get_probe_ring(&ring);
  bool all = known != nullptr;
  for (const int operation : {IORING_OP_ACCEPT, IORING_OP_RECV, IORING_OP_SEND, IORING_OP_READ, IORING_OP_POLL_ADD,
                              IORING_OP_ASYNC_CANCEL, IORING_OP_TIMEOUT, IORING_OP_NOP})
    all = all && io_uring_opcode_supported(known, operation);
  io_uring_free_probe(known);
  io_uring_queue_exit(&ring);
  return all ? error_code() : system_error_code(EOPNOTSUPP);
}

}  // namespace

error_code refusal() noexcept {
  static constinit std::atomic<int> known{-1};
  int answer = known.load();
  if (answer >= 0) return answer == 0 ? error_code() : system_error_code(answer);
  answer = ask().value();
  if (is_shortage(answer)) return {};  // making a ring will report it
  known.store(answer);
  return answer == 0 ? error_code() : system_error_code(answer);
}

io_ring::io_ring() {
  if (const int error = begin(ring_, submissions, completions))
    throw_system_error(error, error == ENOMEM
                                  ? "cannot create an event loop: io_uring_setup (out of memory, or the user may not "
                                    "lock more memory: see ulimit -l, CAP_IPC_LOCK)"
                                  : "cannot create an event loop: io_uring_setup");
}

io_uring_sqe* io_ring::free_place() noexcept {
  if (io_uring_sqe* const free = io_uring_get_sqe(&ring_)) return free;
  submit();
  return io_uring_get_sqe(&ring_);
}

io_uring_sqe* io_ring::next() noexcept {
  io_uring_sqe* const free = free_place();
  prepared_ += free != nullptr;
  return free;
}

void io_ring::submit() noexcept {
  if (io_uring_sq_ready(&ring_) > 0) (void)io_uring_submit(&ring_);
}

bool io_ring::enter(duration longest) noexcept { return wait(longest) != -EEXIST; }

int io_ring::wait(duration longest) noexcept {
  if (longest == engine::forever) return io_uring_submit_and_wait(&ring_, 1);
  if (longest > duration::zero()) {
    longest = std::min(longest, engine::longest_wait);
    __kernel_timespec time{};
    time.tv_sec = longest / std::chrono::seconds(1);
    time.tv_nsec = (longest % std::chrono::seconds(1)).count();
    io_uring_cqe* first = nullptr;
    return io_uring_submit_and_wait_timeout(&ring_, &first, 1, &time, nullptr);
  }
  if (io_uring_sq_ready(&ring_) == 0 && (flags() & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) == 0) return 0;
  return io_uring_submit_and_get_events(&ring_);
}

completion io_ring::take() noexcept {
  io_uring_cqe* oldest = nullptr;
  unsigned head = 0;
  io_uring_for_each_cqe(&ring_, head, oldest) break;
  const completion c{oldest->user_data, oldest->res, oldest->flags};
  io_uring_cq_advance(&ring_, 1);
  return c;
}

}  // namespace quintet::uring
