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

/// Makes the call from an address that is not trapped. Returns the kernel's result: an error is negative.
long untrapped(long number, const std::array<long, 6>& arguments) noexcept;

/// Returns the result of a trapped call in the kernel's form: an error is negative. Runs in a signal handler on the
/// calling thread. It may make the call itself with untrapped().
using trap_function = long (*)(const trapped_call& call) noexcept;

/// Returns whether trap_calls() works: on Linux x86-64, if seccomp is permitted.
[[nodiscard]] bool can_trap() noexcept;

/// Redirects the calls with these numbers from the kernel to `f`, in this thread and in threads that it starts. A
/// seccomp filter (SECCOMP_RET_TRAP) and SIGSYS do it, so system calls that bypass the C library are trapped too. The
/// filter cannot be removed. Start threads that must stay untrapped before this call, or from another thread. A process
/// has one `f`. A thread that has blocked SIGSYS must not make such a call. Throws std::system_error.
void trap_calls(std::span<const long> numbers, trap_function f);

}  // namespace quintet::test
