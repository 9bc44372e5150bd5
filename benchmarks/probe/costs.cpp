// SPDX-License-Identifier: BSL-1.0
// costs.cpp: small loops over one system call or lock. It uses medians, because other programs run too.
#include "probe/costs.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
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

#include "listen.hpp"
#include "load/clock.hpp"
#include "load/connect.hpp"
#include "options.hpp"
#include "probe/median.hpp"
#include "probe/two_threads.hpp"
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

// Returns microseconds for one of `count` calls: the median over as many stretches as there is time for.
double time_of(unsigned count, std::chrono::nanoseconds each, const std::function<void()>& call) {
  return median_within(each, [&] {
    const double from = now_us();
    for (unsigned i = 0; i < count; ++i) call();
    return (now_us() - from) / count;
  });
}

// A thread pinned to a CPU of its own, which only answers.
class other_thread {
 public:
  other_thread(unsigned cpu, std::function<void()> answer)
      : thread_([this, cpu, answer = std::move(answer)] {
          pin_thread({cpu});
          while (true) {
            call_.await();
            if (over_) return;
            answer();
          }
        }) {}
  ~other_thread() {
    over_ = true;
    call_.ring();
  }
  other_thread(const other_thread&) = delete;
  other_thread& operator=(const other_thread&) = delete;
  void call() const { call_.ring(); }

 private:
  doorbell call_;
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
  const doorbell mine, alone;
  const double calls = time_of(200, each, [&] {
    alone.ring();
    alone.await();
  });
  const other_thread second(cpu, [&] { mine.ring(); });
  const double round = time_of(200, each, [&] {
    second.call();
    mine.await();
  });
  return std::max(0.0, round / 2 - calls);
}

double measure_turn(std::chrono::nanoseconds each) {
  const doorbell rung(doorbell_wait::epoll);
  rung.ring();
  std::array<epoll_event, 16> found;
  return time_of(200, each,
                 [&] { ::epoll_wait(rung.epoll().get(), found.data(), static_cast<int>(found.size()), -1); });
}

double measure_accept(std::chrono::nanoseconds each) {
  constexpr unsigned at_once = 32;
  const unique_fd listening = listen_on("127.0.0.1", 0);
  const auto where = resolve({.host = "127.0.0.1", .port = local_port(listening)});
  const linger by_reset{.l_onoff = 1, .l_linger = 0};  // leaves no TIME_WAIT
  return median_within(each, [&] {
    std::vector<unique_fd> sockets;
    for (unsigned i = 0; i < at_once; ++i) {
      sockets.push_back(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
      ::setsockopt(sockets.back().get(), SOL_SOCKET, SO_LINGER, &by_reset, sizeof by_reset);
      if (::connect(sockets.back().get(), where.get(), where.length) != 0)
        throw std::system_error(errno, std::generic_category(), "connect");
    }
    const double from = now_us();
    for (unsigned i = 0; i < at_once; ++i)
      sockets.push_back(checked(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept4"));
    return (now_us() - from) / at_once;
  });
}

// Uses the thread's CPU clock, to exclude preemption.
double measure_work(std::chrono::nanoseconds each) {
  constexpr std::chrono::microseconds asked(200);
  const calibrated_work work;
  return median_within(each, [&] {
    const double from = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    work.compute(asked);
    return (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - from) * 1e6 / static_cast<double>(asked.count());
  });
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
