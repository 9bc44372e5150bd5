// SPDX-License-Identifier: BSL-1.0
// fault_classes: the table, and the action of the trap for each kind.
#include "fault_classes.hpp"

#include "completion_faults.hpp"

#include <quintet/base/build/sanitizers.hpp>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace quintet::test {
namespace {

// io_uring receives, accepts and waits without one system call each.
bool not_in_a_ring(combination under, engine_kind engine) {
  return engine != engine_kind::uring || under.kind == model::thread_per_connection;
}
bool accepted_by_call(combination, engine_kind engine) { return engine != engine_kind::uring; }
// In model 1 only the accepting loop has an epoll set, and it adds nothing to the set after its start.
bool has_interests(combination under, engine_kind engine) {
  return engine != engine_kind::uring && under.kind != model::thread_per_connection;
}
// ThreadSanitizer blocks all signals while it maps a thread's stack. A trap that cannot be delivered ends the process.
constexpr bool stacks_can_be_trapped = !thread_sanitizer;
bool starts_threads(combination under, engine_kind) {
  return stacks_can_be_trapped && under.kind == model::thread_per_connection;
}
bool begins_with_threads(combination under, engine_kind) {
  return stacks_can_be_trapped && under.kind != model::single_reactor;
}
bool in_a_ring(combination under, engine_kind engine) { return !not_in_a_ring(under, engine); }
bool any_ring(combination, engine_kind engine) { return engine == engine_kind::uring; }

// Call sites of these classes, for check_system_calls.
// net/engine/system_call.hpp: recv, net/engine/system_call.hpp: syscall, net/engine/epoll_engine.cpp:
// system_call::direct net/engine/epoll_engine.cpp: system_call::receive, net/engine/epoll_engine.cpp:
// system_call::receive net/engine/asio_engine.cpp: system_call::receive, net/engine/asio_engine.cpp:
// system_call::receive net/engine/blocking_engine.cpp: system_call::receive
std::vector<fault_class> of_receiving() {
  using enum fault_kind;
  const std::vector<long> receive{SYS_recvfrom};
  return {{"recv EINTR", error, receive, EINTR, 5, 0, &not_in_a_ring},
          {"recv EAGAIN", error, receive, EAGAIN, 5, 0, &not_in_a_ring},
          {"recv short", shorter, receive, 0, 3, 0, &not_in_a_ring},
          {"recv ECONNRESET", error, receive, ECONNRESET, 40, 1, &not_in_a_ring},
          {"recv ETIMEDOUT", error, receive, ETIMEDOUT, 40, 1, &not_in_a_ring},
          {"recv ENOMEM", error, receive, ENOMEM, 40, 1, &not_in_a_ring}};
}
// net/engine/system_call.hpp: send, net/engine/system_call.hpp: sendmsg, net/engine/asio_engine.cpp: system_call::send
// net/engine/epoll_engine.cpp: system_call::send, net/engine/system_call.hpp: system_call::send
// net/engine/blocking_engine.cpp: system_call::send, net/engine/blocking_engine.cpp: system_call::send
std::vector<fault_class> of_sending() {
  using enum fault_kind;
  const std::vector<long> send{SYS_sendto, SYS_sendmsg};
  return {{"send EINTR", error, send, EINTR, 5, 0},
          {"send EPIPE", error, send, EPIPE, 40, 1},
          {"send ECONNRESET", error, send, ECONNRESET, 40, 1},
          {"send ENOBUFS", error, send, ENOBUFS, 40, 1},
          {"send ENOMEM", error, send, ENOMEM, 40, 1},
          {"send short", real, send, 0, 1, 0, &not_in_a_ring}};
}
// net/engine/kernel_sockets.cpp: accept4
std::vector<fault_class> of_accepting() {
  using enum fault_kind;
  std::vector<fault_class> all;
  const std::vector<long> accept{SYS_accept, SYS_accept4};
  for (const auto& [name, error_number] : {std::pair("accept EMFILE", EMFILE),
                                           {"accept ENFILE", ENFILE},
                                           {"accept ECONNABORTED", ECONNABORTED},
                                           {"accept ENOBUFS", ENOBUFS},
                                           {"accept ENOMEM", ENOMEM},
                                           {"accept EPERM", EPERM},
                                           {"accept EPROTO", EPROTO},
                                           {"accept EINTR", EINTR}})
    all.push_back({name, error, accept, error_number, 10, 0, &accepted_by_call});
  return all;
}
// net/engine/epoll_engine.cpp: epoll_wait, net/engine/uring/io_ring.cpp: io_uring_submit_and_wait
// net/engine/uring/io_ring.cpp: io_uring_submit_and_wait_timeout, net/engine/uring/io_ring.cpp:
// io_uring_submit_and_get_events
std::vector<fault_class> of_loops() {
  using enum fault_kind;
  return {{"epoll_wait EINTR", error, {SYS_epoll_wait, SYS_epoll_pwait}, EINTR, 5, 0, &accepted_by_call},
          {"epoll_ctl ENOSPC", error, {SYS_epoll_ctl}, ENOSPC, 10, 1, &has_interests},
          {"epoll_ctl ENOMEM", error, {SYS_epoll_ctl}, ENOMEM, 10, 1, &has_interests},
          {"thread EAGAIN", error, {SYS_mmap}, ENOMEM, 3, 1, &starts_threads},
          {"io_uring_enter EINTR", error, {SYS_io_uring_enter}, EINTR, 5, 0, &in_a_ring},
          {"io_uring_enter EAGAIN", error, {SYS_io_uring_enter}, EAGAIN, 5, 0, &in_a_ring},
          {"eventfd EMFILE", first, {SYS_eventfd2}, EMFILE},
          {"epoll_create EMFILE", first, {SYS_epoll_create, SYS_epoll_create1}, EMFILE, 1, 0, &accepted_by_call},
          {"epoll_ctl ENOSPC at start", first, {SYS_epoll_ctl}, ENOSPC, 1, 1, &accepted_by_call},
          {"ring EMFILE", first, {SYS_io_uring_setup}, EMFILE, 1, 0, &any_ring},
          {"ring ENOMEM", first, {SYS_io_uring_setup}, ENOMEM, 1, 0, &any_ring},
          {"thread EAGAIN at start", first, {SYS_mmap}, ENOMEM, 1, 1, &begins_with_threads},
          {"wake-up 50 ms late", late, {SYS_write, SYS_epoll_ctl}, 0, 2},
          {"SIGSTOP 200 ms", stop, {}}};
}

bool completes(combination under, engine_kind engine) { return can_fail_completions() && in_a_ring(under, engine); }
bool wakes_by_completion(combination, engine_kind engine) {
  return can_fail_completions() && engine == engine_kind::uring;
}
// Numbers of the kernel's interface: enum io_uring_op.
constexpr std::uint8_t read_some = 22, send_some = 26, receive_some = 27;

std::vector<fault_class> of_completions() {
  std::vector<fault_class> all;
  const std::vector<long> calls(ring_calls.begin(), ring_calls.end());
  const auto add = [&](std::string_view name, std::uint8_t operation, int error, unsigned one_in, unsigned may_lose,
                       bool (*applies)(combination, engine_kind) = &completes) {
    all.push_back({name, fault_kind::completion, calls, error, one_in, may_lose, applies, operation});
  };
  add("cqe recv ENOBUFS", receive_some, ENOBUFS, 3, 0);
  add("cqe recv ECANCELED", receive_some, ECANCELED, 3, 0);
  add("cqe recv EINTR", receive_some, EINTR, 3, 0);
  add("cqe recv ENOMEM", receive_some, ENOMEM, 10, 1);
  add("cqe recv once", receive_some, 0, 2, 0);
  add("cqe send EINTR", send_some, EINTR, 5, 0);
  add("cqe send ENOBUFS", send_some, ENOBUFS, 40, 1);
  add("cqe send ENOMEM", send_some, ENOMEM, 40, 1);
  add("cqe send ECANCELED", send_some, ECANCELED, 40, 1);
  add("cqe send short", send_some, 0, 3, 0);
  add("cqe wake EINTR", read_some, EINTR, 3, 0, &wakes_by_completion);
  return all;
}

const fault_class* current = nullptr;
fault_control* control = nullptr;
completion_fault current_completion{};

/// The seed and the number of the call decide which calls get a fault.
bool is_chosen() noexcept {
  std::uint64_t x = control->calls.fetch_add(1) + control->seed * 0x9e3779b97f4a7c15U;
  x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
  return (x ^ x >> 31U) % current->one_in == 0;
}

/// Returns whether a call is meant. Other calls have the same number but another purpose.
bool matters(const trapped_call& call) noexcept {
  // Asio wakes a thread in epoll_wait by changing the interest in its eventfd.
  if (call.number == SYS_epoll_ctl)
    return call.arguments[1] == (current->kind == fault_kind::late ? EPOLL_CTL_MOD : EPOLL_CTL_ADD);
  if (call.number == SYS_write) return call.arguments[2] == 8;  // the size of a write to an eventfd
  // A thread's stack: without it, pthread_create() returns EAGAIN. Its clone() cannot be trapped: it blocks all
  // signals.
  if (call.number == SYS_mmap) return (call.arguments[3] & MAP_STACK) != 0;
  return true;
}

/// Returns the descriptor of the call's connection; -1 if it has none.
int descriptor_of(const trapped_call& call) noexcept {
  switch (call.number) {
    case SYS_recvfrom:
    case SYS_sendto:
    case SYS_sendmsg:
      return static_cast<int>(call.arguments[0]);
    case SYS_epoll_ctl:
      return static_cast<int>(call.arguments[2]);
    default:
      return -1;
  }
}

/// Runs in a signal handler: uses only an untrapped system call, and allocates nothing.
void note_hit(const trapped_call& call) noexcept {
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  const int fd = descriptor_of(call);
  const auto named = [](const void* p) { return reinterpret_cast<long>(p); };
  if (fd >= 0 && untrapped(SYS_getpeername, {fd, named(&peer), named(&size), 0, 0, 0}) == 0)
    if (const std::size_t at = control->hits.fetch_add(1); at < fault_control::most_hits) {
      control->hit_ports[at] = ntohs(peer.sin_port);
      return;
    }
  ++control->elsewhere;
}

long make(const trapped_call& call) noexcept { return untrapped(call.number, call.arguments); }

long count_short_send(const trapped_call& call) noexcept {
  const long sent = untrapped(call.number, call.arguments);
  std::size_t offered = static_cast<std::size_t>(call.arguments[2]);
  if (call.number == SYS_sendmsg) {
    const auto* const message = reinterpret_cast<const msghdr*>(call.arguments[1]);
    offered = 0;
    for (std::size_t i = 0; i < message->msg_iovlen; ++i) offered += message->msg_iov[i].iov_len;
  }
  if (sent > 0 && static_cast<std::size_t>(sent) < offered) ++control->injected;
  return sent;
}

long with_fault(const trapped_call& call) noexcept {
  ++control->injected;
  note_hit(call);
  if (current->kind == fault_kind::shorter) {
    trapped_call less = call;
    less.arguments[2] = std::min(less.arguments[2], 1 + static_cast<long>(control->calls.load() % 7));
    return make(less);
  }
  if (current->kind == fault_kind::late) {
    const timespec delay{0, 50'000'000};
    untrapped(SYS_nanosleep, {reinterpret_cast<long>(&delay), 0, 0, 0, 0, 0});
    return make(call);
  }
  return -current->error;
}

const completion_fault* choose(std::uint8_t operation) noexcept {
  if (!control->active || operation != current_completion.operation || !is_chosen()) return nullptr;
  ++control->injected;
  ++control->elsewhere;
  return &current_completion;
}

long decide(const trapped_call& call) noexcept {
  if (current->kind == fault_kind::completion) return make_ring_call(call, &choose);
  if (!control->active || !matters(call)) return make(call);
  if (current->kind == fault_kind::real) return count_short_send(call);
  const bool chosen =
      current->kind == fault_kind::first ? control->calls.fetch_add(1) == control->fail_first : is_chosen();
  return chosen ? with_fault(call) : make(call);
}

}  // namespace

const std::vector<fault_class>& all_fault_classes() {
  static const std::vector<fault_class> all = [] {
    std::vector<fault_class> together;
    for (auto part : {of_receiving(), of_sending(), of_accepting(), of_completions(), of_loops()})
      together.insert(together.end(), part.begin(), part.end());
    return together;
  }();
  return all;
}

void inject(const fault_class& what, fault_control& with) {
  current = &what;
  control = &with;
  current_completion = {what.operation, -what.error, what.one_in};
  if (!what.calls.empty()) trap_calls(what.calls, &decide);
}

}  // namespace quintet::test
