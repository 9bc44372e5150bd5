// SPDX-License-Identifier: BSL-1.0
// clock_jumps_test: the wall clock jumps by decades at every read. Time limits, timers and draining do not notice.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <chrono>
#include <ctime>

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

std::atomic<bool> jumping{false};
std::atomic<unsigned> looks{0};

/// Alternates between the year 2008 and the next century.
long offset_s() { return looks++ % 2 == 0 ? 3'000'000'000 : -600'000'000; }

}  // namespace

// These replace the C library's functions for libstdc++, Asio and Quintet. An absolute deadline from this clock would
// also be wrong for the kernel, whose clock does not jump.
extern "C" int clock_gettime(clockid_t clock, timespec* into) noexcept {
  const long result = ::syscall(SYS_clock_gettime, clock, into);
  if (clock == CLOCK_REALTIME && jumping) into->tv_sec += offset_s();
  return static_cast<int>(result);
}
extern "C" int gettimeofday(timeval* into, void*) noexcept {
  timespec now{};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *into = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return result;
}
extern "C" std::time_t time(std::time_t* into) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (into != nullptr) *into = now.tv_sec;
  return now.tv_sec;
}

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

/// The wall clock jumps while this object lives.
struct jumps {
  jumps() {
    looks = 0;
    jumping = true;
  }
  jumps(const jumps&) = delete;
  jumps& operator=(const jumps&) = delete;
  ~jumps() { jumping = false; }
};

void echo(connection& c, bytes in) { c.write(in); }
awaitable<> echo_coroutine(stream& s) {
  while (const auto in = co_await s.read()) s.write(*in);
}

template <class Handler>
void check(model kind, Handler handler) {
  constexpr auto limit = 500ms;
  const jumps jump;
  {
    running<server> srv(
        config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}, .limits = {.idle_timeout = limit}}, handler);
    const auto begun = std::chrono::steady_clock::now();
    client talks(srv->port());
    talks.send("hello");
    BOOST_TEST(talks.receive(5) == "hello");
    (void)talks.receive_rest();  // until the idle timeout closes the connection
    BOOST_TEST((std::chrono::steady_clock::now() - begun >= limit));
    BOOST_TEST((talks.ended() == ending::orderly));
  }
  {
    running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}}, handler);
    client stays(srv->port());
    stays.send("hello");
    BOOST_TEST(stays.receive(5) == "hello");
    srv->drain(10min);
    (void)stays.receive_rest();
    BOOST_TEST((stays.ended() == ending::orderly));
    stays.close();
    srv.join();
  }
  BOOST_TEST(looks == 0u, "somebody has asked for the time of day " << looks << " times");
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_time_of_day_jumps_here) {
  const jumps jump;
  const auto first = std::chrono::system_clock::now(), second = std::chrono::system_clock::now();
  BOOST_TEST((first - second > 24h * 365 * 50));
  const std::time_t third = std::time(nullptr), fourth = std::time(nullptr);
  BOOST_TEST(third - fourth > 1'000'000'000);
}

BOOST_DATA_TEST_CASE(limits_and_draining_keep_their_time, data::make(all_combinations), under) {
  if (under.is_coroutine())
    check(under.kind, &echo_coroutine);
  else
    check(under.kind, &echo);
}

}  // namespace quintet::test
