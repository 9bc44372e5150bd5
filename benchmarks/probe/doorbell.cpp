// SPDX-License-Identifier: BSL-1.0
// doorbell.cpp: an eventfd for each thread; a thread writes to the other's and waits at its own.
#include "probe/doorbell.hpp"

#include "load/clock.hpp"
#include "options.hpp"
#include "unique_fd.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <future>
#include <system_error>

namespace quintet::bench {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

class doorbell {
 public:
  explicit doorbell(doorbell_wait how) : fd_(::eventfd(0, EFD_CLOEXEC)) {
    if (!fd_) fail("eventfd");
    if (how == doorbell_wait::read) return;
    epoll_ = unique_fd(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event about{.events = EPOLLIN, .data = {}};
    if (!epoll_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd_.get(), &about) != 0) fail("epoll");
  }

  void ring() const {
    const std::uint64_t one = 1;
    if (::write(fd_.get(), &one, sizeof one) != sizeof one) fail("cannot write to an eventfd");
  }

  void await() const {
    epoll_event event{};
    if (epoll_)
      while (::epoll_wait(epoll_.get(), &event, 1, -1) < 1) {
      }
    std::uint64_t count = 0;
    while (::read(fd_.get(), &count, sizeof count) < 0)
      if (errno != EINTR) fail("cannot read an eventfd");
  }

 private:
  unique_fd fd_, epoll_;
};

}  // namespace

histogram measure_doorbell(unsigned first_cpu, unsigned second_cpu, doorbell_wait how,
                           std::chrono::nanoseconds how_long) {
  // Test first: the other thread would wait forever for one that cannot start.
  for (const unsigned cpu : {first_cpu, second_cpu}) std::async(std::launch::async, [cpu] { pin_thread({cpu}); }).get();
  const doorbell there(how), back(how);
  std::atomic<bool> over{false};
  const auto answer = [&] {
    pin_thread({second_cpu});
    for (there.await(); !over.load(); there.await()) back.ring();
  };
  const auto ask = [&] {
    pin_thread({first_cpu});
    histogram trips;
    for (const auto end = now_ns() + static_cast<std::uint64_t>(how_long.count()); now_ns() < end;) {
      const auto begun = now_ns();
      there.ring();
      back.await();
      trips.record(now_ns() - begun);
    }
    return trips;
  };
  auto second = std::async(std::launch::async, answer);
  auto first = std::async(std::launch::async, ask);
  first.wait();  // even after a failure, the other thread must end
  over = true;
  there.ring();
  second.get();
  return first.get();
}

}  // namespace quintet::bench
