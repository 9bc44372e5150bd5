// SPDX-License-Identifier: BSL-1.0
// acceptor_test: connections wait, are refused or are limiter by the accept limits; the test moves the clock.
#include <quintet/net/server/acceptor.hpp>

#include <quintet/net/loop/placing.hpp>

#include "needs.hpp"
#include "sockets.hpp"

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <vector>

using namespace quintet;
using namespace quintet::testing;
using std::chrono::milliseconds;

namespace {

/// Two listeners under the limits. Admitted connections stay open until leave().
struct world {
  explicit world(const accept_limits& limits, const memory_limits& memory = {}, const log_hook& hook = {})
      : log(hook), limiter(limits) {
    accepts.emplace(loop, limits, memory, limiter, log,
                    [this](event_loop&, stream_handle&& stream, connection_permit place) {
                      const int fd = stream.get();
                      if (fails) fails();
                      inside.push_back({file_descriptor(fd), std::move(place)});
                    });
    first = accepts->listen({"127.0.0.1:0", settings}).at();
    second = accepts->listen(another_loopback()).at();
    accepts->start();
  }
  /// Polls until the loop has no work.
  void run_until_idle() {
    while (loop.poll()) {
    }
  }
  void connect(const address& to, int count = 1) {
    for (int i = 0; i < count; ++i) clients.push_back(connected_to(to));
    run_until_idle();
  }
  void advance(milliseconds by) {
    time.advance(by);
    run_until_idle();
  }
  std::size_t leave() {
    inside.pop_front();
    run_until_idle();
    return inside.size();
  }
  bool last_is_closed() {
    char c = 0;
    return ::recv(clients.back().get(), &c, 1, 0) == 0;
  }

  struct guest {
    file_descriptor fd;
    connection_permit place;
  };
  static inline listener_settings settings;
  log_hook log;
  connection_limiter limiter;
  manual_clock time;
  event_loop loop{make_default_engine(), time};
  std::function<void()> fails;
  std::deque<guest> inside;
  std::vector<file_descriptor> clients;
  std::optional<acceptor> accepts;
  address first, second;
};

/// A loop that accepts, under limits shared with another loop.
struct side {
  explicit side(connection_limiter& shared, const quintet::clock& time = quintet::clock::system())
      : loop(make_default_engine(), time) {
    accepts.emplace(loop, accept_limits{}, memory_limits{}, shared, quiet,
                    [this](event_loop& on, stream_handle&& stream, connection_permit place) {
                      const int fd = stream.get();
                      BOOST_TEST(&on == &loop);
                      inside.push_back({file_descriptor(fd), std::move(place)});
                    });
    at = accepts->listen("127.0.0.1:0").at();
    accepts->start();
  }
  void run_until_idle() {
    while (loop.poll()) {
    }
  }
  const log_hook quiet;
  event_loop loop;
  std::deque<world::guest> inside;
  std::optional<acceptor> accepts;
  address at;
};

/// Time that stands still. Runs a function whenever a loop reads it, which an acceptor does between its two limits.
struct disturbing_clock final : quintet::clock {
  [[nodiscard]] time_point now() const noexcept override {
    if (disturb) disturb();
    return time_point(std::chrono::hours(1));
  }
  std::function<void()> disturb;
};

}  // namespace

BOOST_AUTO_TEST_CASE(without_limits_everybody_is_let_in) {
  world w({});
  w.connect(w.first, 100);
  w.connect(w.second, 100);
  BOOST_TEST(w.inside.size() == 200u);
  BOOST_TEST(w.limiter.open() == 200u);
}

BOOST_AUTO_TEST_CASE(a_full_server_pauses_all_its_listeners_until_one_leaves) {
  world w({.max_connections = 3});
  w.connect(w.first, 5);
  w.connect(w.second, 2);
  BOOST_TEST(w.inside.size() == 3u);
  BOOST_TEST(w.accepts->accepted() == 3u);  // the other four wait in the backlog
  for (std::uint64_t let_in = 4; let_in <= 7; ++let_in) {
    w.leave();
    BOOST_TEST(w.inside.size() == 3u);
    BOOST_TEST(w.accepts->accepted() == let_in);
  }
  BOOST_TEST(w.accepts->refused() == 0u);
  while (!w.inside.empty()) w.leave();
  BOOST_TEST(w.limiter.open() == 0u);
}

// Nobody then asks the kernel, for each connection, whether descriptors can arrive.
BOOST_AUTO_TEST_CASE(an_accepted_stream_is_known_to_be_no_unix_socket_on_its_loop_too) {
  event_loop main, other;
  connection_limiter limiter({});
  const log_hook quiet;
  std::vector<bool> is_ip;
  acceptor accepts(main, {}, {}, limiter, quiet, [&](event_loop&, stream_handle&& stream, const connection_permit&) {
    detail::post_stream(other, std::move(stream), [&](stream_handle s) noexcept {
      is_ip.push_back(s.facts().is_ip);
      other.io().close(std::move(s));
    });
  });
  const address tcp = accepts.listen("127.0.0.1:0").at(), local = accepts.listen("unix:@quintet-facts").at();
  accepts.start();
  const file_descriptor first = connected_to(tcp);
  while (main.poll()) {
  }
  const file_descriptor second = connected_to(local);
  while (main.poll() || other.poll()) {
  }
  BOOST_TEST(is_ip == (std::vector<bool>{true, false}), boost::test_tools::per_element());
}

// The second loop accepts before it knows that the first has taken the last place.
BOOST_AUTO_TEST_CASE(what_two_loops_accept_at_once_waits_for_the_place_of_the_other) {
  connection_limiter limiter({.max_connections = 1});
  side a(limiter), b(limiter);
  const file_descriptor first = connected_to(a.at), second = connected_to(b.at), third = connected_to(b.at);
  a.run_until_idle();
  b.run_until_idle();
  BOOST_TEST(a.inside.size() == 1u);
  BOOST_TEST(b.inside.empty());
  BOOST_TEST(b.accepts->accepted() == 1u);  // the second waits in the acceptor, the third in the backlog
  BOOST_TEST(limiter.open() == 1u);
  a.inside.clear();
  b.run_until_idle();
  BOOST_TEST(b.inside.size() == 1u);
  BOOST_TEST(b.accepts->accepted() == 1u);
  b.inside.clear();
  a.run_until_idle();
  b.run_until_idle();
  BOOST_TEST(b.inside.size() == 1u);
  BOOST_TEST(b.accepts->accepted() == 2u);
  b.accepts->close();
  b.inside.clear();
  b.run_until_idle();
  BOOST_TEST(limiter.open() == 0u);
}

BOOST_AUTO_TEST_CASE(what_waits_is_closed_when_its_loop_stops) {
  connection_limiter limiter({.max_connections = 1});
  side a(limiter), b(limiter);
  const file_descriptor first = connected_to(a.at), second = connected_to(b.at);
  a.run_until_idle();
  b.run_until_idle();
  BOOST_REQUIRE(b.accepts->accepted() == 1u);
  BOOST_REQUIRE(b.inside.empty());
  b.loop.stop();
  b.run_until_idle();
  BOOST_TEST(b.loop.finished());
  char c = 0;
  BOOST_TEST(::recv(second.get(), &c, 1, 0) == 0);
  a.inside.clear();  // the notification reaches a loop that accepts no more
  b.run_until_idle();
  BOOST_TEST(b.inside.empty());
}

BOOST_AUTO_TEST_CASE(two_loops_share_one_rate) {
  const accept_limits limits{.accept_rate = 10, .accept_burst = 3};
  connection_limiter limiter(limits);
  const time_point now{std::chrono::hours(1)};
  for (int i = 0; i < 3; ++i) BOOST_TEST((limiter.acquire_rate_token(now) == duration::zero()));
  BOOST_TEST((limiter.acquire_rate_token(now) == milliseconds(100)));  // takes no turn
  BOOST_TEST((limiter.time_until_rate_token(now) == milliseconds(100)));
  BOOST_TEST((limiter.acquire_rate_token(now + milliseconds(100)) == duration::zero()));
}

BOOST_AUTO_TEST_CASE(who_loses_the_last_place_to_another_loop_uses_up_no_rate) {
  connection_limiter limiter({.max_connections = 1, .accept_rate = 1, .accept_burst = 1});
  disturbing_clock time;
  side late(limiter, time);
  std::vector<connection_permit> of_another_loop;
  time.disturb = [&] {
    if (late.accepts->accepted() == 0 || !of_another_loop.empty()) return;
    BOOST_TEST(!limiter.is_full());
    of_another_loop.push_back(*limiter.try_acquire({}));
  };
  const file_descriptor client = connected_to(late.at);
  late.run_until_idle();
  time.disturb = nullptr;
  BOOST_REQUIRE(of_another_loop.size() == 1u);
  BOOST_TEST(late.accepts->accepted() == 1u);
  BOOST_TEST(late.inside.empty());
  BOOST_TEST((limiter.time_until_rate_token(time.now()) == duration::zero()));
  of_another_loop.clear();
  late.run_until_idle();
  BOOST_TEST(late.inside.size() == 1u);  // time has stood still
  BOOST_TEST((limiter.time_until_rate_token(time.now()) == std::chrono::seconds(1)));
}

// An unbound client connects to any address of 127.0.0.0/8 from 127.0.0.1, so the second address is of IPv6.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(needs_ipv6))
BOOST_AUTO_TEST_CASE(each_address_has_its_share) {
  std::vector<std::string> refused;
  accept_limits limits{.max_connections_per_address = 2};
  limits.on_refused = [&](error_code why, const address& from) -> std::string {
    BOOST_TEST((why == errc::too_many_from_address));
    refused.push_back(from.host());
    throw std::runtime_error("ignored");
  };
  world w(limits);
  w.connect(w.first, 2);
  w.connect(w.second, 2);
  BOOST_TEST(w.inside.size() == 4u);
  w.connect(w.first);
  BOOST_TEST(w.last_is_closed());
  w.connect(w.second);
  BOOST_TEST(w.last_is_closed());
  BOOST_TEST(refused == (std::vector<std::string>{"127.0.0.1", "::1"}), boost::test_tools::per_element());
  BOOST_TEST(w.accepts->refused() == 2u);
  w.leave();  // a connection from the first address
  w.connect(w.second);
  BOOST_TEST(w.last_is_closed());
  w.connect(w.first);
  BOOST_TEST(w.inside.size() == 4u);
}

BOOST_AUTO_TEST_CASE(a_flood_of_refused_connections_is_no_flood_of_lines) {
  std::size_t lines = 0;
  world w({.max_connections_per_address = 1}, {}, [&lines](const log_event&) { ++lines; });
  w.connect(w.first, 41);
  BOOST_TEST(w.accepts->refused() == 40u);
  BOOST_TEST(lines == log_limit::per_second);
}

BOOST_AUTO_TEST_CASE(a_place_that_has_settled_is_given_back_by_identity) {
  connection_limiter limiter({.max_connections_per_address = 1});
  const address a("127.0.0.1:1"), b("127.0.0.2:1");
  int one = 0, two = 0;
  limiter.commit(*limiter.try_acquire(a), &one);
  limiter.commit(*limiter.try_acquire(b), &two);
  BOOST_TEST(!*limiter.try_acquire(a));
  (void)limiter.release(&one);
  BOOST_TEST(static_cast<bool>(*limiter.try_acquire(a)));
  BOOST_TEST(!*limiter.try_acquire(b));
  BOOST_TEST(limiter.open() == 1u);
}

BOOST_AUTO_TEST_CASE(so_many_a_second_after_a_burst) {
  world w({.accept_rate = 10, .accept_burst = 4});
  w.time.advance(std::chrono::hours(1));
  w.connect(w.first, 10);
  BOOST_TEST(w.inside.size() == 4u);
  for (int i = 0; i < 100; ++i) w.run_until_idle();
  BOOST_TEST(w.inside.size() == 4u);
  w.advance(milliseconds(101));
  BOOST_TEST(w.inside.size() == 5u);
  for (int i = 0; i < 3; ++i) w.advance(milliseconds(100));
  BOOST_TEST(w.inside.size() == 8u);
  w.advance(std::chrono::minutes(1));
  BOOST_TEST(w.inside.size() == 10u);  // two were limiter, so that two of the burst are left
  w.connect(w.second, 5);
  BOOST_TEST(w.inside.size() == 12u);
}

BOOST_AUTO_TEST_CASE(two_limits_at_once_both_have_to_agree) {
  world w({.max_connections = 2, .accept_rate = 1, .accept_burst = 2});
  w.time.advance(std::chrono::hours(1));
  w.connect(w.first, 4);
  BOOST_TEST(w.inside.size() == 2u);
  w.advance(milliseconds(5000));  // the rate allows more, but the server is full
  BOOST_TEST(w.inside.size() == 2u);
  w.leave();
  w.leave();
  BOOST_TEST(w.inside.size() == 2u);
  w.leave();  // there is room, but the rate is used up
  BOOST_TEST(w.inside.size() == 1u);
}

BOOST_AUTO_TEST_CASE(when_connections_are_many_their_buffers_are_bounded) {
  world w({}, {.tuned_sockets = 2});
  w.connect(w.first, 4);
  const auto buffer = [&](std::size_t i, int option) { return get_option(w.inside[i].fd.get(), SOL_SOCKET, option); };
  BOOST_TEST(buffer(0, SO_SNDBUF) != 131'072);  // that of receiving is the kernel's own default
  BOOST_TEST(buffer(1, SO_SNDBUF) != 131'072);
  for (const int option : {SO_SNDBUF, SO_RCVBUF}) {
    BOOST_TEST(buffer(2, option) == 131'072);  // the kernel doubles the value
    BOOST_TEST(buffer(3, option) == 131'072);
  }
  w.leave();
  w.leave();
  w.leave();
  w.connect(w.first);
  BOOST_TEST(buffer(1, SO_SNDBUF) != 131'072);
}

BOOST_AUTO_TEST_CASE(a_listener_that_names_its_buffers_keeps_them) {
  world::settings = {.socket = {.send_buffer = 50'000}};
  world w({}, {.tuned_sockets = 0});
  world::settings = {};
  w.connect(w.first);
  w.connect(w.second);
  BOOST_TEST(get_option(w.inside[0].fd.get(), SOL_SOCKET, SO_SNDBUF) == 100'000);
  BOOST_TEST(get_option(w.inside[1].fd.get(), SOL_SOCKET, SO_SNDBUF) == 131'072);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_placed_is_refused_with_its_reason_and_leaves_no_trace) {
  std::vector<error_code> reasons;
  accept_limits limits{.max_connections = 2};
  limits.on_refused = [&](error_code why, const address&) {
    reasons.push_back(why);
    return std::string();
  };
  world w(limits);
  const std::vector<std::function<void()>> failures{
      [] { throw boost::system::system_error(errc::too_many_threads); },
      [] { throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)); },
      [] { throw std::bad_alloc(); }, [] { throw 5; }};
  for (const auto& failure : failures) {
    w.fails = failure;
    w.connect(w.first);
    BOOST_TEST(w.last_is_closed());
  }
  BOOST_REQUIRE(reasons.size() == 4u);
  BOOST_TEST((reasons[0] == errc::too_many_threads));
  BOOST_TEST((reasons[1] == boost::system::errc::resource_unavailable_try_again));
  BOOST_TEST((reasons[2] == boost::system::errc::not_enough_memory));
  BOOST_TEST((reasons[3] == errc::not_placed));
  BOOST_TEST(w.limiter.open() == 0u);
  BOOST_TEST(w.accepts->errors() == 0u);
  w.fails = nullptr;
  w.connect(w.first, 3);
  BOOST_TEST(w.inside.size() == 2u);
}
