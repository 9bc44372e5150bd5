// SPDX-License-Identifier: BSL-1.0
// hearing_storm: random cancels, deadlines, resets, orderly ends, aborts, drains and stops. Each request and each
// connection reports its end once, with a reason that was caused. QUINTET_LONG=1: 10,000 requests a combination.
// ctest: TIMEOUT 300
#include "../../../net/tests/support/long_runs.hpp"
#include "running.hpp"
#include "storm.hpp"
#include "stormy_client.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

// ---- Handlers -------------------------------------------------------------------------------------------------------

awaitable<> wait(stream& s, wait_for how) {
  event never;
  boost::asio::steady_timer timer(s.get_executor(), 24h);
  switch (how) {
    case wait_for::sleep:
      (void)co_await sleep_for(24h);
      break;
    case wait_for::an_event:
      (void)co_await never;
      break;
    case wait_for::asio_timer:
      (void)co_await timer.async_wait(boost::asio::as_tuple(boost::asio::deferred));
      break;
    case wait_for::room:
      do s.write(std::string(20'000, 'x'));
      while (co_await s.until_writable());
      break;
    case wait_for::function:
      co_await s.offload([](const cancel_token& token) {
        while (!token) std::this_thread::yield();
      });
  }
}

struct coroutine {
  storm* in;
  awaitable<> operator()(stream& s) const { return serve(s, *in, in->begin_life()); }
  static awaitable<> serve(stream& s, storm& in, life& l) {
    while (const auto line = co_await s.read_until("\n", 20)) {
      const std::string number(*line);
      request& r = in.at(number);
      const auto limit = s.with_deadline(s.loop().now() + r.deadline);
      r.begin(s, l);
      try {
        co_await wait(s, r.how);
      } catch (const boost::system::system_error&) {  // of a function that never began
      }
      s.write(number);
      r.end(s.cancelled().why());
    }
    l.end(s.failure());
  }
};

struct callback_handler {
  storm* in;
  life* mine = nullptr;
  void on_open(connection&) { mine = &in->begin_life(); }
  void operator()(connection& c, bytes line) const {
    request& r = in->at(line);
    r.begin(c, *mine);
    while (!r.released && !(in->of.is_pooled() ? c.cancelled() : c.look_for_end())) std::this_thread::yield();
    c.write(line);
    r.end(c.cancelled().why());
  }
  void on_close(connection&, error_code why) const { mine->end(why); }
};

// ---- The checks -----------------------------------------------------------------------------------------------------

void check(storm& in, const loop_statistics& counted) {
  for (std::size_t n = 0; n < round_length; ++n) {
    const request& r = in.requests.at(n);
    const int begun = r.begun;
    if (begun != r.ended || begun > 1 || (begun == 0 && r.was_sent && !r.may_be_lost))
      in.report(n, "begun " + std::to_string(begun) + ", ended " + std::to_string(r.ended));
    if (begun == 0) continue;
    const std::string caused = ", caused " + std::to_string(r.caused);
    unsigned may_be = r.caused != 0 ? r.caused : bit(cancel_reason::none);
    if (r.may_be_lost) may_be |= bit(cancel_reason::stopped) | bit(cancel_reason::drain_deadline);  // nobody waited
    if (!(bit(r.why) & may_be)) in.report(n, "reason " + std::to_string(static_cast<int>(r.why)) + caused);
    if (!(bit(r.early) & (may_be | bit(cancel_reason::none))))
      in.report(n, "early reason " + std::to_string(static_cast<int>(r.early)) + caused);
  }
  std::array<std::uint64_t, 5> endings{};
  for (const life& l : in.lives) {
    ++endings.at(static_cast<std::size_t>(ending_for(l.why)));
    if (l.ended != 1) in.report(round_length, "a connection has ended " + std::to_string(l.ended) + " times");
    if (l.caused != 0 && !(l.caused & bit(ending_for(l.why))))
      in.report(round_length, "ended by " + l.why.message() + ", caused " + std::to_string(l.caused));
  }
  BOOST_TEST(counted.closed == in.lives.size());
  BOOST_TEST(testing::sum_of_reasons(counted) == in.lives.size());
  BOOST_TEST(counted.handler_errors == 0U);
  if (in.of.is_coroutine()) return;  // after its last read it hears no more of its connection
  BOOST_TEST(counted.closed_reset == endings.at(static_cast<std::size_t>(ending_of::reset)));
  BOOST_TEST(counted.closed_aborted == endings.at(static_cast<std::size_t>(ending_of::aborted)));
  BOOST_TEST(counted.closed_stopped == endings.at(static_cast<std::size_t>(ending_of::stopped)));
}

void rage(combination c, unsigned round) {
  storm in(c);
  const config options{.listen = {{"127.0.0.1:0", {.socket = {.send_buffer = 4096}}}},
                       .model = c.kind,
                       .threads = {.loops = 2, .workers = {clients, clients}, .offload = {offload_policy::always}},
                       .limits = {.high_watermark = 16 * 1024, .low_watermark = 8 * 1024}};
  {
    auto srv = c.is_coroutine() ? std::make_unique<running<server>>(options, coroutine{&in})
                                : std::make_unique<running<server>>(options, callback_handler{&in});
    const auto last = static_cast<last_act>(round % 3);
    std::latch ready(clients), begun(1);
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < clients; ++n)
      threads.emplace_back([&, n] { stormy_client(in, **srv, n, round).run(last, ready, begun); });
    ready.wait();
    if (last == last_act::stop)
      srv->stop();
    else
      (*srv)->drain(last == last_act::drain ? 24h : 1ms);
    begun.count_down();
    for (std::thread& t : threads) t.join();
    if (!in.wrong.empty()) srv->stop();
    srv->join();
    check(in, (*srv)->statistics());
  }
  for (const std::string& what : in.wrong) BOOST_ERROR("round " << round << ", " << what);
}

BOOST_DATA_TEST_CASE(each_is_reported_once, boost::unit_test::data::make(all_combinations), c) {
  const unsigned rounds = is_long() ? 100 : 3;
  for (unsigned round = 0; round < rounds; ++round) rage(c, round);
}

}  // namespace
}  // namespace quintet::test
