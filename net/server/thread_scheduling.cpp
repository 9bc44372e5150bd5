// SPDX-License-Identifier: BSL-1.0
// thread_scheduling: sched_setattr(2) by syscall, because older C libraries have no function for it.
#include "thread_scheduling.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>

namespace quintet {
namespace {

constexpr std::chrono::microseconds short_slice{100};  // the kernel's minimum
constexpr int preferred_nice = -10;
constexpr std::uint64_t reset_on_fork = 1;  // SCHED_FLAG_RESET_ON_FORK

/// The first version of the kernel's struct sched_attr. The name is in no header.
struct scheduling_attributes {
  std::uint32_t size = sizeof(scheduling_attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
};
static_assert(sizeof(scheduling_attributes) == 48);

error_code result_of(long call) noexcept { return call == 0 ? error_code() : system_error_code(errno); }

error_code get(scheduling_attributes& a) noexcept {
  return result_of(::syscall(SYS_sched_getattr, 0, &a, sizeof a, 0U));
}

error_code set(scheduling_attributes a) noexcept {
  a.flags |= reset_on_fork;
  return result_of(::syscall(SYS_sched_setattr, 0, &a, 0U));
}

void ask_for_real_time(thread_scheduling& got) noexcept {
  scheduling_attributes a;
  a.policy = SCHED_RR;
  a.priority = static_cast<std::uint32_t>(::sched_get_priority_min(SCHED_RR));
  got.real_time_refused = set(a);
  got.real_time = !got.real_time_refused;
}

// Kernels before 6.12 accept the slice and ignore it, so the value is read back.
void ask_for_short_slice(thread_scheduling& got) noexcept {
  scheduling_attributes a;
  if ((got.slice_refused = get(a))) return;
  const std::uint64_t wanted = std::chrono::nanoseconds(short_slice).count();
  a.runtime = wanted;
  if ((got.slice_refused = set(a)) || (got.slice_refused = get(a))) return;
  if (a.runtime == wanted)
    got.slice = short_slice;
  else
    got.slice_refused = make_error_code(boost::system::errc::not_supported);
}

void ask_for_nice(thread_scheduling& got) noexcept {
  scheduling_attributes a;
  if ((got.nice_refused = get(a))) return;
  a.nice = preferred_nice;
  got.nice_refused = set(a);
  if (!get(a)) got.nice = a.nice;
}

void add_refusal(std::string& to, const char* what, const error_code& why) {
  if (why) to.append(to.empty() ? "; refused: " : ", ").append(what).append(" (").append(why.message()).append(")");
}

}  // namespace

thread_scheduling schedule_this_thread(priority_scheduling wanted) noexcept {
  thread_scheduling got;
  if (wanted == priority_scheduling::automatic || wanted == priority_scheduling::real_time) ask_for_real_time(got);
  if (wanted == priority_scheduling::short_slice || (wanted == priority_scheduling::automatic && !got.real_time)) {
    ask_for_short_slice(got);
    ask_for_nice(got);
  }
  return got;
}

thread_scheduling demote_this_thread(int nice) noexcept {
  thread_scheduling got{.held_back = true};
  scheduling_attributes ordinary;
  ordinary.nice = nice;
  got.nice_refused = set(ordinary);
  return got;
}

int nice_of_this_thread() noexcept {
  scheduling_attributes a;
  return get(a) ? 0 : a.nice;
}

duration cpu_time_of_this_thread() noexcept {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::string to_string(const thread_scheduling& got) {
  std::string text = got.real_time ? "SCHED_RR" : "ordinary";
  if (got.slice > duration::zero())
    text += ", slices of " + std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(got.slice).count()) +
            " us";
  if (got.held_back) text += ", held back: it has used more than a quarter of a CPU";
  if (got.nice != 0) text += ", nice " + std::to_string(got.nice);
  std::string refused;
  add_refusal(refused, "SCHED_RR", got.real_time_refused);
  add_refusal(refused, "short slices", got.slice_refused);
  add_refusal(refused, "nice", got.nice_refused);
  return text + refused;
}

}  // namespace quintet
