// SPDX-License-Identifier: BSL-1.0
// trouble: the failing calls, and the thread of others.
#include "trouble.hpp"

#include "completion_faults.hpp"
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

// The same of requests to an io_uring: they fail in their completions. Numbers of enum io_uring_op.
constexpr std::uint8_t poll_add = 6, accept_one = 13, read_some = 22, send_some = 26, receive_some = 27;
constexpr std::array completion_faults{
    completion_fault{receive_some, -ENOBUFS, 50},
    completion_fault{receive_some, -ECANCELED, 50},
    completion_fault{receive_some, -EINTR, 50},
    completion_fault{receive_some, -ENOMEM, 2000},
    completion_fault{receive_some, completion_fault::shorter, 10},
    completion_fault{send_some, -EINTR, 50},
    completion_fault{send_some, -ENOBUFS, 1000},
    completion_fault{send_some, -ECANCELED, 1000},
    completion_fault{send_some, completion_fault::shorter, 20},
    completion_fault{poll_add, -ECANCELED, 50},
    completion_fault{poll_add, -ENOMEM, 1000},
    completion_fault{poll_add, completion_fault::shorter, 20},
    completion_fault{read_some, -EINTR, 20},
    completion_fault{accept_one, -EMFILE, 20},
    completion_fault{accept_one, -ECANCELED, 20},
    completion_fault{accept_one, completion_fault::shorter, 5},
};

std::atomic<std::uint64_t> fault_dice{1};

// splitmix64. Threads share the sequence, so a seed gives similar rounds and not equal ones.
std::uint64_t next_dice() noexcept {
  std::uint64_t x = fault_dice.fetch_add(0x9e3779b97f4a7c15U, std::memory_order_relaxed);
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

const completion_fault* choose(std::uint8_t operation) noexcept {
  if (!faults_active.load(std::memory_order_relaxed)) return nullptr;
  for (const completion_fault& f : completion_faults)
    if (f.operation == operation && next_dice() % f.one_in == 0) {
      completions_failed.fetch_add(1, std::memory_order_relaxed);
      return &f;
    }
  return nullptr;
}

long answer(const trapped_call& call) noexcept {
  const bool is_harmless = call.number == SYS_epoll_ctl && call.arguments[1] == EPOLL_CTL_DEL;  // needs no resources
  if (faults_active.load(std::memory_order_relaxed) && !is_harmless)
    for (const call_fault& f : call_faults)
      if (f.call == call.number && next_dice() % f.one_in == 0) {
        faults_injected.fetch_add(1, std::memory_order_relaxed);
        return -f.error;
      }
  const bool is_of_ring = std::ranges::find(ring_calls, call.number) != ring_calls.end();
  return is_of_ring ? make_ring_call(call, &choose) : untrapped(call.number, call.arguments);
}

}  // namespace

void make_calls_fail(const plan& p) {
  fault_dice = p.seed;
  std::vector<long> calls;
  // Boost.Asio ignores the results of its own epoll_ctl(), so a refused one stops its timers for ever.
  const bool has_asio =
      p.engine == engine_kind::asio || p.under.is_coroutine() || (p.bus.is_there && p.bus.engine == engine_kind::asio);
  for (const call_fault& f : call_faults)
    if (!(has_asio && f.call == SYS_epoll_ctl) && std::ranges::find(calls, f.call) == calls.end())
      calls.push_back(f.call);
  const bool has_ring = p.engine == engine_kind::uring || (p.bus.is_there && p.bus.engine == engine_kind::uring);
  if (has_ring && can_fail_completions())
    for (const long call : ring_calls)
      if (std::ranges::find(calls, call) == calls.end()) calls.push_back(call);
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
