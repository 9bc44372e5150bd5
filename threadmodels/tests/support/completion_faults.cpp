// SPDX-License-Identifier: BSL-1.0
// completion_faults: finds the requests of a ring in its shared memory, and changes them before they are submitted.
#include "completion_faults.hpp"

#include <quintet/base/build/sanitizers.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <sys/utsname.h>

#if __has_include(<linux/io_uring.h>) && defined(__x86_64__)
#include <linux/io_uring.h>
#include <sys/syscall.h>

namespace quintet::test {
namespace {

static_assert(ring_calls == std::array<long, 3>{SYS_io_uring_setup, SYS_io_uring_enter, SYS_mmap});

// Older headers lack IORING_NOP_INJECT_RESULT and IORING_SETUP_NO_SQARRAY.
constexpr unsigned inject_result = 1, without_array = 1U << 16U;
constexpr std::size_t most_rings = 1024, most_altered = 64;

/// A ring's submission queue, by the ring's descriptor.
struct submissions {
  std::atomic<bool> is_ring{false};
  bool has_array = true;  // of places in `entries`; liburing does without since 2.6
  io_sqring_offsets at{};
  std::atomic<char*> queue{nullptr};
  std::atomic<io_uring_sqe*> entries{nullptr};

  [[nodiscard]] unsigned word(unsigned offset) const noexcept {
    return __atomic_load_n(reinterpret_cast<unsigned*>(queue.load() + offset), __ATOMIC_ACQUIRE);
  }
  [[nodiscard]] io_uring_sqe& entry(unsigned number) const noexcept {
    const unsigned place = number & word(at.ring_mask);
    return entries.load()[has_array ? reinterpret_cast<unsigned*>(queue.load() + at.array)[place] : place];
  }
};
std::array<submissions, most_rings> rings;

submissions* ring_of(long descriptor) noexcept {
  if (descriptor < 0 || descriptor >= static_cast<long>(most_rings)) return nullptr;
  submissions& s = rings[static_cast<std::size_t>(descriptor)];
  return s.is_ring ? &s : nullptr;
}

long set_up(const trapped_call& call) noexcept {
  const long ring = untrapped(call.number, call.arguments);
  if (ring < 0 || ring >= static_cast<long>(most_rings)) return ring;
  submissions& s = rings[static_cast<std::size_t>(ring)];
  s.queue = nullptr;
  s.entries = nullptr;
  const auto& made = *reinterpret_cast<const io_uring_params*>(call.arguments[1]);
  s.at = made.sq_off;
  s.has_array = (made.flags & without_array) == 0;
  s.is_ring = true;
  return ring;
}

long map(const trapped_call& call) noexcept {
  const long memory = untrapped(call.number, call.arguments);
  submissions* const s = memory > 0 ? ring_of(static_cast<int>(call.arguments[4])) : nullptr;
  if (s && call.arguments[5] == IORING_OFF_SQ_RING) s->queue = reinterpret_cast<char*>(memory);
  if (s && call.arguments[5] == IORING_OFF_SQES) s->entries = reinterpret_cast<io_uring_sqe*>(memory);
  return memory;
}

void make_shorter(io_uring_sqe& request) noexcept {
  if (request.opcode == IORING_OP_SEND) {
    request.len = std::max(1U, request.len / 2);
    request.flags &= static_cast<std::uint8_t>(~IOSQE_CQE_SKIP_SUCCESS);  // else the kernel would report nothing
  } else if (request.opcode == IORING_OP_POLL_ADD) {
    request.len &= ~IORING_POLL_ADD_MULTI;
  } else {
    request.ioprio = 0;  // IORING_ACCEPT_MULTISHOT
  }
}

void apply(const completion_fault& f, io_uring_sqe& request) noexcept {
  if (f.result == completion_fault::shorter) return make_shorter(request);
  io_uring_sqe failing{};
  failing.opcode = IORING_OP_NOP;
  failing.user_data = request.user_data;
  failing.flags = request.flags & IOSQE_CQE_SKIP_SUCCESS;
  failing.len = static_cast<unsigned>(f.result);
  failing.rw_flags = inject_result;
  request = failing;
}

// A request that the kernel has not taken gets its old form again, since the engine may still change it.
long enter(const trapped_call& call, choose_fault choose) noexcept {
  const submissions* const s = ring_of(call.arguments[0]);
  if (!s || !s->queue.load() || !s->entries.load()) return untrapped(call.number, call.arguments);
  struct altered {
    unsigned number;
    std::array<char, sizeof(io_uring_sqe)> before;  // some headers let the struct end in an array without a size
  };
  std::array<altered, most_altered> all;  // not initialised: the first `count` are set
  std::size_t count = 0;
  const unsigned first = s->word(s->at.head), end = s->word(s->at.tail);
  for (unsigned number = first; number != end && count < most_altered; ++number) {
    io_uring_sqe& request = s->entry(number);
    const completion_fault* const fault = choose(request.opcode);
    if (!fault) continue;
    all[count].number = number;
    std::memcpy(all[count++].before.data(), &request, sizeof request);
    apply(*fault, request);
  }
  const long result = untrapped(call.number, call.arguments);
  const unsigned taken = s->word(s->at.head) - first;
  for (std::size_t i = 0; i < count; ++i)
    if (all[i].number - first >= taken)
      std::memcpy(&s->entry(all[i].number), all[i].before.data(), sizeof(io_uring_sqe));
  return result;
}

}  // namespace

bool can_fail_completions() noexcept {
  utsname system{};
  int version = 0, minor = 0;
  if (thread_sanitizer)
    return false;  // it does not see the kernel's accesses to a ring, and delays the signals of traps
  if (::uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &version, &minor) != 2) return false;
  return can_trap() && (version > 6 || (version == 6 && minor >= 10));
}

long make_ring_call(const trapped_call& call, choose_fault choose) noexcept {
  if (call.number == SYS_io_uring_setup) return set_up(call);
  return call.number == SYS_mmap ? map(call) : enter(call, choose);
}

}  // namespace quintet::test

#else

namespace quintet::test {

bool can_fail_completions() noexcept { return false; }
long make_ring_call(const trapped_call& call, choose_fault) noexcept { return untrapped(call.number, call.arguments); }

}  // namespace quintet::test

#endif
