// SPDX-License-Identifier: BSL-1.0
// completion_faults: io_uring's completions fail on a test's command, as the kernel would make them fail.
#pragma once

#include "system_call_trap.hpp"

#include <array>
#include <cstdint>

namespace quintet::test {

/// What happens to a request of this operation (IORING_OP_...). The kernel does not carry out one that fails, so that
/// no fault breaks a promise of its own.
struct completion_fault {
  static constexpr int shorter = 0;  ///< a send of fewer bytes, or a multishot request that ends after one completion

  std::uint8_t operation;
  int result;       ///< the completion's: an error is negative; or `shorter`
  unsigned one_in;  ///< for the user: one request in this many
};

/// Returns the fault of a request with this operation, or nullptr. Runs in a signal handler.
using choose_fault = const completion_fault* (*)(std::uint8_t operation) noexcept;

/// The calls that a test traps for completion faults, before the rings are made.
inline constexpr std::array ring_calls{425L /* io_uring_setup */, 426L /* io_uring_enter */, 9L /* mmap */};

/// Whether the kernel can give a completion any result (Linux 6.10).
[[nodiscard]] bool can_fail_completions() noexcept;

/// Makes one of the ring_calls. io_uring_enter() submits requests with their faults. For a trap_function.
long make_ring_call(const trapped_call& call, choose_fault choose) noexcept;

}  // namespace quintet::test
