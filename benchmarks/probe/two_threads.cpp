// SPDX-License-Identifier: BSL-1.0
// two_threads.cpp: one thread asks and the other answers, or both count.
#include "probe/two_threads.hpp"

#include "load/clock.hpp"
#include "options.hpp"
#include "probe/median.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <future>
#include <stdexcept>
#include <system_error>

namespace quintet::bench {
namespace {

/// Runs both functions concurrently and returns what ask() returns. Once it has ended, also by an exception, calls
/// end(), after which answer() must return.
template <class Ask, class Answer, class End>
auto run_pinned_pair(unsigned asking_cpu, unsigned answering_cpu, Ask ask, Answer answer, End end) {
  const auto start = [](unsigned cpu, auto function) {
    return std::async(std::launch::async, [cpu, function] {
      pin_thread({cpu});
      return function();
    });
  };
  // Test first: the other thread would wait forever for one that cannot start.
  for (const unsigned cpu : {asking_cpu, answering_cpu}) start(cpu, [] {}).get();
  auto second = start(answering_cpu, answer);
  auto first = start(asking_cpu, ask);
  first.wait();
  end();
  second.get();
  return first.get();
}

// ---- Ping-pong: one atomic number that two threads increment in turn ------------------------------------------------

constexpr unsigned trips_at_a_time = 500;
constexpr unsigned game_over = ~0U;

struct alignas(128) ball {
  std::atomic<unsigned> turn{0};  // odd: the second thread's turn
};

void return_balls(ball& b) {
  while (true) {
    const unsigned seen = b.turn.load(std::memory_order_acquire);
    if (seen == game_over) return;
    if (seen % 2 == 1) b.turn.store(seen + 1, std::memory_order_release);
  }
}

double nanoseconds_of_trips(ball& b) {
  const auto begun = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < 2 * trips_at_a_time; i += 2) {
    b.turn.store(i + 1, std::memory_order_release);
    while (b.turn.load(std::memory_order_acquire) != i + 2) {
    }
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

double measure_ping_pong(unsigned first_cpu, unsigned second_cpu, std::chrono::nanoseconds how_long) {
  ball shared;
  const auto ask = [&] {
    return median_within(how_long, [&] { return nanoseconds_of_trips(shared) / (2 * trips_at_a_time); });
  };
  return run_pinned_pair(
      first_cpu, second_cpu, ask, [&] { return_balls(shared); },
      [&] { shared.turn.store(game_over, std::memory_order_release); });
}

// ---- Doorbells: a thread writes to the other's eventfd and waits at its own -----------------------------------------

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

// ---- False sharing: two threads with a counter each -----------------------------------------------------------------

namespace {

constexpr std::size_t two_lines = 128;  // the hardware fetches lines in pairs

using counter = std::atomic<std::uint64_t>;

struct alignas(two_lines) adjacent_counters {
  counter first{0}, second{0};
};

struct padded_counters {
  alignas(two_lines) counter first{0};
  alignas(two_lines) counter second{0};
};

constexpr std::uint64_t patience_ns = 5'000'000'000;
constexpr std::uint64_t at_a_time = 20'000;  // increments; some ten microseconds, so preemption within is rare

// Sums over a thread's stretches in which both threads ran.
struct stretches {
  double seconds = 0;
  std::uint64_t increments = 0, all = 0;  // all: of every stretch
};

// State shared by the two threads, in separate lines in either layout.
struct progress_of_both {
  padded_counters done;  // completed stretches of each thread
  alignas(two_lines) std::atomic<bool> met{false};
  std::barrier<> start{2};
};

struct one_side {
  counter* mine;
  bool is_first;
};

stretches increase(const one_side& side, std::uint64_t times, progress_of_both& both) {
  counter& my_done = side.is_first ? both.done.first : both.done.second;
  const counter& others_done = side.is_first ? both.done.second : both.done.first;
  stretches out;
  both.start.arrive_and_wait();
  const auto until = now_ns() + patience_ns;
  while (out.all < times || (!both.met.load(std::memory_order_relaxed) && now_ns() < until)) {
    const auto seen = others_done.load(std::memory_order_relaxed);
    const auto begun = now_ns();
    const double used = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (std::uint64_t i = 0; i < at_a_time; ++i) side.mine->fetch_add(1, std::memory_order_relaxed);
    const double seconds = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - used;
    const double passed = static_cast<double>(now_ns() - begun) / 1e9;
    out.all += at_a_time;
    my_done.fetch_add(1, std::memory_order_relaxed);
    if (others_done.load(std::memory_order_relaxed) == seen || seconds < 0.9 * passed) continue;
    out.seconds += seconds;
    out.increments += at_a_time;
    if (!both.met.load(std::memory_order_relaxed)) both.met.store(true, std::memory_order_relaxed);
  }
  return out;
}

template <class Counters>
planted_result measure(const planted_counters& p) {
  Counters counters;
  progress_of_both both;
  stretches second;
  const auto first = run_pinned_pair(
      p.first_cpu, p.second_cpu, [&] { return increase({&counters.first, true}, p.increments, both); },
      [&] { second = increase({&counters.second, false}, p.increments, both); }, [] {});
  const auto counted = static_cast<double>(first.increments + second.increments);
  if (counted == 0)
    throw std::runtime_error("the two threads never ran at the same time, because other programs used the CPUs");
  return {(first.seconds + second.seconds) * 1e9 / counted, first.all + second.all};
}

}  // namespace

planted_result count_side_by_side(const planted_counters& p, counter_layout layout) {
  return layout == counter_layout::adjacent ? measure<adjacent_counters>(p) : measure<padded_counters>(p);
}

}  // namespace quintet::bench
