// SPDX-License-Identifier: BSL-1.0
// doorbell.cpp: an eventfd for each thread; a thread writes to the other's and waits at its own.
#include "probe/doorbell.hpp"

#include "load/clock.hpp"
#include "probe/pinned_pair.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace quintet::bench {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

doorbell::doorbell(doorbell_wait how) : fd_(::eventfd(0, EFD_CLOEXEC)) {
  if (!fd_) fail("eventfd");
  if (how == doorbell_wait::read) return;
  epoll_ = unique_fd(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event about{.events = EPOLLIN, .data = {}};
  if (!epoll_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd_.get(), &about) != 0) fail("epoll");
}

void doorbell::ring() const {
  const std::uint64_t one = 1;
  if (::write(fd_.get(), &one, sizeof one) != sizeof one) fail("cannot write to an eventfd");
}

void doorbell::await() const {
  epoll_event event{};
  if (epoll_)
    while (::epoll_wait(epoll_.get(), &event, 1, -1) < 1) {
    }
  std::uint64_t count = 0;
  while (::read(fd_.get(), &count, sizeof count) < 0)
    if (errno != EINTR) fail("cannot read an eventfd");
}

histogram measure_doorbell(unsigned first_cpu, unsigned second_cpu, doorbell_wait how,
                           std::chrono::nanoseconds how_long) {
  const doorbell there(how), back(how);
  std::atomic<bool> over{false};
  const auto ask = [&] {
    histogram trips;
    for (const auto end = now_ns() + static_cast<std::uint64_t>(how_long.count()); now_ns() < end;) {
      const auto begun = now_ns();
      there.ring();
      back.await();
      trips.record(now_ns() - begun);
    }
    return trips;
  };
  const auto answer = [&] {
    for (there.await(); !over.load(); there.await()) back.ring();
  };
  return run_pinned_pair(first_cpu, second_cpu, ask, answer, [&] {
    over = true;
    there.ring();
  });
}

}  // namespace quintet::bench
