// SPDX-License-Identifier: BSL-1.0
// costs.cpp: small loops over one system call or lock. It uses medians, because other programs run too.
#include "probe/costs.hpp"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "options.hpp"
#include "probe/median.hpp"
#include "probe/ping_pong.hpp"
#include "serve/compute.hpp"
#include "unique_fd.hpp"

namespace quintet::bench {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::array idle_times{0.0, 10.0, 30.0, 100.0, 300.0, 1000.0};
constexpr double falling_asleep = 5;  // time that the other thread needs until its core is idle

double now_us() { return std::chrono::duration<double, std::micro>(clock::now().time_since_epoch()).count(); }

unique_fd checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return unique_fd(fd);
}
unique_fd make_event(int flags = 0) { return checked(::eventfd(0, flags | EFD_CLOEXEC), "eventfd"); }
void notify(const unique_fd& event) {
  const std::uint64_t one = 1;
  if (::write(event.get(), &one, sizeof one) < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}
void await(const unique_fd& event) {
  std::uint64_t count = 0;
  if (::read(event.get(), &count, sizeof count) < 0 && errno != EAGAIN)
    throw std::system_error(errno, std::generic_category(), "eventfd");
}

// Returns microseconds for one of `count` calls: the median over as many stretches as there is time for.
double time_of(unsigned count, std::chrono::nanoseconds each, const std::function<void()>& call) {
  std::vector<double> samples;
  const auto end = clock::now() + each;
  do {
    const double from = now_us();
    for (unsigned i = 0; i < count; ++i) call();
    samples.push_back((now_us() - from) / count);
  } while (clock::now() < end);
  return median(samples);
}

// A thread pinned to a CPU of its own, which only answers.
class other_thread {
 public:
  other_thread(unsigned cpu, std::function<void()> answer)
      : thread_([this, cpu, answer = std::move(answer)] {
          pin_thread({cpu});
          while (true) {
            await(call_);
            if (over_) return;
            answer();
          }
        }) {}
  ~other_thread() {
    over_ = true;
    notify(call_);
  }
  other_thread(const other_thread&) = delete;
  other_thread& operator=(const other_thread&) = delete;
  void call() const { notify(call_); }

 private:
  unique_fd call_ = make_event();
  std::atomic<bool> over_{false};
  std::jthread thread_;  // last member: the thread uses the others
};

std::vector<wake_cost> measure_wakes(unsigned cpu, std::chrono::nanoseconds each) {
  std::atomic<double> woke{0};
  const other_thread sleeper(cpu, [&] { woke = now_us(); });
  std::vector<wake_cost> out;
  for (const double idle : idle_times) {
    std::vector<double> costs, latencies;
    const auto end = clock::now() + each;
    do {
      for (const double from = now_us(); now_us() - from < idle + falling_asleep;) {
      }
      woke = 0;
      const double from = now_us();
      sleeper.call();
      costs.push_back(now_us() - from);
      double when = 0;
      while ((when = woke) == 0) {
      }
      latencies.push_back(when - from);
    } while (clock::now() < end);
    out.push_back({idle, median(costs), median(latencies)});
  }
  return out;
}

// Measures two threads that wake each other on one CPU, minus the time of their system calls.
double measure_switch(unsigned cpu, std::chrono::nanoseconds each) {
  const auto mine = make_event(), alone = make_event(EFD_NONBLOCK);
  const double calls = time_of(200, each, [&] {
    notify(alone);
    await(alone);
  });
  const other_thread second(cpu, [&] { notify(mine); });
  const double round = time_of(200, each, [&] {
    second.call();
    await(mine);
  });
  return std::max(0.0, round / 2 - calls);
}

double measure_turn(std::chrono::nanoseconds each) {
  const auto set = checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
  const auto event = make_event();
  notify(event);
  epoll_event wanted{.events = EPOLLIN, .data = {}};
  if (::epoll_ctl(set.get(), EPOLL_CTL_ADD, event.get(), &wanted) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  std::array<epoll_event, 16> found;
  return time_of(200, each, [&] { ::epoll_wait(set.get(), found.data(), static_cast<int>(found.size()), -1); });
}

double measure_accept(std::chrono::nanoseconds each) {
  constexpr unsigned at_once = 32;
  const auto listening = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening.get(), where, length) != 0 || ::listen(listening.get(), 2 * at_once) != 0 ||
      ::getsockname(listening.get(), where, &length) != 0)
    throw std::system_error(errno, std::generic_category(), "listen");
  const linger by_reset{.l_onoff = 1, .l_linger = 0};  // leaves no TIME_WAIT
  std::vector<double> samples;
  const auto end = clock::now() + each;
  do {
    std::vector<unique_fd> sockets;
    for (unsigned i = 0; i < at_once; ++i) {
      sockets.push_back(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
      ::setsockopt(sockets.back().get(), SOL_SOCKET, SO_LINGER, &by_reset, sizeof by_reset);
      if (::connect(sockets.back().get(), where, length) != 0)
        throw std::system_error(errno, std::generic_category(), "connect");
    }
    const double from = now_us();
    for (unsigned i = 0; i < at_once; ++i)
      sockets.push_back(checked(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept4"));
    samples.push_back((now_us() - from) / at_once);
  } while (clock::now() < end);
  return median(samples);
}

// Uses the thread's CPU clock, to exclude preemption.
double measure_work(std::chrono::nanoseconds each) {
  const auto used_us = [] {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) / 1e3;
  };
  constexpr std::chrono::microseconds asked(200);
  const calibrated_work work;
  std::vector<double> samples;
  const auto end = clock::now() + each;
  do {
    const double from = used_us();
    work.compute(asked);
    samples.push_back((used_us() - from) / static_cast<double>(asked.count()));
  } while (clock::now() < end);
  return median(samples);
}

}  // namespace

machine_costs measure_costs(unsigned first_cpu, unsigned second_cpu, std::chrono::nanoseconds each) {
  machine_costs out;
  auto all = std::async(std::launch::async, [&] {  // a separate thread, since it is pinned
    pin_thread({first_cpu});
    out.wakes = measure_wakes(second_cpu, each);
    out.context_switch = measure_switch(first_cpu, each);
    out.work_factor = measure_work(each);
    out.turn = measure_turn(each);
    out.accept = measure_accept(each);
    std::mutex mutex;
    out.lock = time_of(1000, each, [&] { const std::lock_guard lock(mutex); });
  });
  all.get();
  out.line = measure_ping_pong(first_cpu, second_cpu, each) / 1000;
  return out;
}

}  // namespace quintet::bench
