// SPDX-License-Identifier: BSL-1.0
// system_call_trap: lets a test decide what the system calls of some threads return.
#pragma once

#include <array>
#include <span>

namespace quintet::test {

/// A system call that a thread is about to make.
struct trapped_call {
  long number;
  std::array<long, 6> arguments;
};

/// Makes the call, from a place that is not trapped. An error is negative.
long untrapped(long number, const std::array<long, 6>& arguments) noexcept;

/// What the call returns, as the kernel gives it: an error is negative. It runs in a signal handler, on the thread that
/// calls, and makes the call itself by untrapped(), or does not.
using trap_function = long (*)(const trapped_call& call) noexcept;

/// Whether trap_calls() works here: Linux on x86-64, and seccomp is permitted.
[[nodiscard]] bool can_trap() noexcept;

/// From now on the calls with these numbers, of this thread and of those that it starts, go to `f` instead of to the
/// kernel: by a seccomp filter (SECCOMP_RET_TRAP) and SIGSYS. That reaches system calls that the library makes without
/// the C library too. The filter cannot be removed. Start threads that must stay untrapped before this call, or from
/// another thread. There is one `f` in a process. A thread that has blocked SIGSYS must not make such a call. Throws
/// std::system_error.
void trap_calls(std::span<const long> numbers, trap_function f);

}  // namespace quintet::test
