// SPDX-License-Identifier: BSL-1.0
// system_call_trap: the filter, the signal handler, and the only address from which trapped calls pass.
#include "system_call_trap.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <vector>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

// Takes (number, arguments). The call is made at one address, which the filter lets through.
asm(R"(
  .text
  .globl quintet_untrapped_call
  .type quintet_untrapped_call, @function
quintet_untrapped_call:
  mov %rdi, %rax
  mov %rsi, %rcx
  mov 0(%rcx), %rdi
  mov 8(%rcx), %rsi
  mov 16(%rcx), %rdx
  mov 24(%rcx), %r10
  mov 32(%rcx), %r8
  mov 40(%rcx), %r9
  syscall
  .globl quintet_untrapped_return
quintet_untrapped_return:
  ret
  .size quintet_untrapped_call, . - quintet_untrapped_call
)");
extern "C" long quintet_untrapped_call(long number, const long* arguments) noexcept;
extern "C" const char quintet_untrapped_return[];

namespace quintet::test {
namespace {

std::atomic<trap_function> answer_call{nullptr};

void on_sigsys(int, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const trapped_call call{info->si_syscall,
                          {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10],
                           registers[REG_R8], registers[REG_R9]}};
  registers[REG_RAX] = answer_call.load()(call);
}

using program = std::vector<sock_filter>;

void load_word(program& p, std::size_t offset) {
  p.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
}
/// Skips the next `skip` instructions unless the loaded word is `value`.
void skip_unless(program& p, std::uint32_t value, std::uint8_t skip) {
  p.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
}
void end_with(program& p, std::uint32_t verdict) { p.push_back(BPF_STMT(BPF_RET | BPF_K, verdict)); }

program filter_for(std::span<const long> numbers) {
  program p;
  const auto home = reinterpret_cast<std::uintptr_t>(&quintet_untrapped_return[0]);
  load_word(p, offsetof(seccomp_data, instruction_pointer));  // the lower half: x86-64 is little-endian
  skip_unless(p, static_cast<std::uint32_t>(home), 3);
  load_word(p, offsetof(seccomp_data, instruction_pointer) + 4);
  skip_unless(p, static_cast<std::uint32_t>(home >> 32U), 1);
  end_with(p, SECCOMP_RET_ALLOW);
  load_word(p, offsetof(seccomp_data, nr));
  for (const long number : numbers) {
    skip_unless(p, static_cast<std::uint32_t>(number), 1);
    end_with(p, SECCOMP_RET_TRAP);
  }
  end_with(p, SECCOMP_RET_ALLOW);
  return p;
}

void require(bool succeeded, const char* what) {
  if (!succeeded) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

long untrapped(long number, const std::array<long, 6>& arguments) noexcept {
  return quintet_untrapped_call(number, arguments.data());
}

bool can_trap() noexcept {
  const std::uint32_t action = SECCOMP_RET_TRAP;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

void trap_calls(std::span<const long> numbers, trap_function f) {
  answer_call = f;
  struct sigaction action{};
  action.sa_sigaction = &on_sigsys;
  action.sa_flags = static_cast<int>(SA_SIGINFO) | static_cast<int>(SA_NODEFER);
  require(::sigaction(SIGSYS, &action, nullptr) == 0, "sigaction");
  program instructions = filter_for(numbers);
  const sock_fprog whole{static_cast<unsigned short>(instructions.size()), instructions.data()};
  require(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
  require(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) == 0, "seccomp");
}

}  // namespace quintet::test

#else

namespace quintet::test {

long untrapped(long, const std::array<long, 6>&) noexcept { return -ENOSYS; }
bool can_trap() noexcept { return false; }
void trap_calls(std::span<const long>, trap_function) {
  throw std::system_error(ENOTSUP, std::generic_category(), "no system calls are trapped on this processor");
}

}  // namespace quintet::test

#endif
