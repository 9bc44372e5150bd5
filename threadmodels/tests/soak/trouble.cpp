// SPDX-License-Identifier: BSL-1.0
// trouble: the failing calls, and the thread of others.
#include "trouble.hpp"

#include "failing_new.hpp"
#include "system_call_trap.hpp"

#include <quintet/net/connection.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

#include <sys/epoll.h>
#include <sys/syscall.h>

namespace quintet::test::soak {
namespace {

struct call_fault {
  long call;
  int error;
  unsigned one_in;
};
// None of these breaks the kernel's promises: a refused call has had no effect.
constexpr std::array call_faults{
    call_fault{SYS_recvfrom, EINTR, 20},     call_fault{SYS_recvfrom, ECONNRESET, 2000},
    call_fault{SYS_recvfrom, ENOMEM, 2000},  call_fault{SYS_sendto, EINTR, 20},
    call_fault{SYS_sendto, EPIPE, 2000},     call_fault{SYS_sendmsg, ENOBUFS, 500},
    call_fault{SYS_accept4, EMFILE, 10},     call_fault{SYS_accept4, ECONNABORTED, 10},
    call_fault{SYS_epoll_ctl, ENOSPC, 50},   call_fault{SYS_epoll_ctl, ENOMEM, 50},
    call_fault{SYS_epoll_wait, EINTR, 20},   call_fault{SYS_io_uring_enter, EINTR, 20},
    call_fault{SYS_setsockopt, ENOBUFS, 20}, call_fault{SYS_getsockname, ENOBUFS, 20},
    call_fault{SYS_memfd_create, EMFILE, 4}, call_fault{SYS_eventfd2, EMFILE, 20},
};

std::atomic<std::uint64_t> fault_dice{1};

// splitmix64. Threads share the sequence, so a seed gives similar rounds and not equal ones.
std::uint64_t next_dice() noexcept {
  std::uint64_t x = fault_dice.fetch_add(0x9e3779b97f4a7c15U, std::memory_order_relaxed);
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

long answer(const trapped_call& call) noexcept {
  const bool is_harmless = call.number == SYS_epoll_ctl && call.arguments[1] == EPOLL_CTL_DEL;  // needs no resources
  if (faults_active.load(std::memory_order_relaxed) && !is_harmless)
    for (const call_fault& f : call_faults)
      if (f.call == call.number && next_dice() % f.one_in == 0) {
        faults_injected.fetch_add(1, std::memory_order_relaxed);
        return -f.error;
      }
  return untrapped(call.number, call.arguments);
}

}  // namespace

void make_calls_fail(const plan& p) {
  fault_dice = p.seed;
  std::vector<long> calls;
  // Boost.Asio ignores the results of its own epoll_ctl(), so a refused one stops its timers for ever.
  const bool has_asio = p.engine == engine_kind::asio || p.under.is_coroutine();
  for (const call_fault& f : call_faults)
    if (!(has_asio && f.call == SYS_epoll_ctl) && std::ranges::find(calls, f.call) == calls.end())
      calls.push_back(f.call);
  trap_calls(calls, &answer);
}

outsider::outsider(const plan& p, stage& on, connection_registry& registry)
    : plan_(p), stage_(on), registry_(registry), random_(p.seed ^ 0x5bd1e995U), thread_([this] { run(); }) {}

outsider::~outsider() {
  ending_ = true;
  thread_.join();
}

void outsider::run() {
  const failing_allocations::spare spared;
  while (!ending_) {
    if (plan_.has_shortage) allocations.fail_number(1 + random_() % 300, static_cast<int>(1 + random_() % 20));
    resume_paused();
    const std::vector<connection_id> all = registry_.all();
    if (!all.empty()) act(all[random_() % all.size()]);
    std::this_thread::sleep_for(std::chrono::microseconds(100 + random_() % 900));  // others have their turn
  }
  if (plan_.has_shortage) allocations.disarm();
}

// A connection that is full of messages refuses one more: it is asked again.
void outsider::resume_paused() {
  for (const connection_id id : stage_.take_paused())
    if (registry_.post(id, [](connection& c) { c.resume_reading(); }) == error_code(errc::output_full))
      stage_.add_paused(id);
}

void outsider::act(connection_id on) {
  switch (random_() % (plan_.has_intruders ? 8 : 4)) {
    case 0:
      (void)registry_.post(on, [&s = stage_](connection& c) {
        c.when_sent([&s](error_code) { ++s.told; });
        ++s.asked;
      });
      return;
    case 4:
      (void)registry_.close(on);
      return;
    case 5:
      (void)registry_.abort(on);
      return;
    default: {
      if (sent_ == 1000) return;  // a slow reader must come to the end of its output
      const auto size = static_cast<std::uint32_t>(random_() % 3000);
      ++sent_;
      (void)registry_.send(on, "s " + std::to_string(sent_) + ' ' + std::to_string(size) + '\n' + pattern(sent_, size));
    }
  }
}

}  // namespace quintet::test::soak
