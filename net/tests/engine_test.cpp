// SPDX-License-Identifier: BSL-1.0
// engine_test: what the seam promises of streams, of every engine that this kernel has.
#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/options/loop_options.hpp>

#include "engine_stream.hpp"
#include "sockets.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace quintet {
namespace {

using namespace std::chrono_literals;
using testing::connected_to;
using testing::numbered;
using testing::stream;
using fixture = testing::engine_stream;

const error_code reset_by_peer{ECONNRESET, boost::system::system_category()};

QUINTET_ENGINE_TEST(it_says_its_name) { BOOST_TEST(make_engine(kind)->capabilities().name == to_string(kind)); }

QUINTET_ENGINE_TEST(bytes_and_the_end_arrive) {
  fixture f(kind);
  f.say("before, ");
  f.watch();
  BOOST_TEST(f.until([&] { return f.here.received == "before, "; }));
  f.say("after");
  f.peer.reset();
  BOOST_TEST(f.until([&] { return f.here.ended.has_value(); }));
  BOOST_TEST(f.here.received == "before, after");
  BOOST_TEST(!*f.here.ended);
}

// Both happen before the engine looks. A multishot receive of io_uring may tell the bytes, and never the end.
QUINTET_ENGINE_TEST(bytes_and_an_end_that_arrive_together_are_both_told) {
  enum { in_order, by_reset, over_unix };
  for (const auto how : {in_order, by_reset, over_unix}) {
    fixture f = how == over_unix ? fixture(kind, testing::socket_pair()) : fixture(kind);
    f.watch();
    f.poll_until_idle();
    f.say("last words");
    if (how == by_reset) f.reset();
    f.peer.reset();
    BOOST_REQUIRE(f.until([&] { return f.here.ended.has_value(); }));
    BOOST_TEST(f.here.received == "last words");
    BOOST_TEST(*f.here.ended == (how == by_reset ? reset_by_peer : error_code()));
  }
}

QUINTET_ENGINE_TEST(a_receive_takes_no_more_than_its_limit) {
  for (const auto& [limit, longest] : {std::pair<std::size_t, std::size_t>{0, 1}, {100, 100}}) {
    fixture f(kind);
    f.io->limit_receive(limit);
    f.watch();
    std::size_t before = 0, most = 0;
    f.here.then = [&] {
      most = std::max(most, f.here.received.size() - std::exchange(before, f.here.received.size()));
    };
    const std::string text = numbered(350);
    f.say(text);
    BOOST_TEST(f.until([&] { return f.here.received.size() == text.size(); }));
    BOOST_TEST((f.here.received == text));
    BOOST_TEST(most == longest);
  }
}

// What had arrived by then may still come; what comes later does not.
QUINTET_ENGINE_TEST(reading_stops_and_goes_on_without_a_gap) {
  fixture f(kind);
  f.watch();
  const std::string text = numbered(300'000);
  bool all_said = true;
  std::thread saying([&] {
    for (std::size_t at = 0; at < text.size(); at += 1000) all_said &= f.try_to_say(bytes(text).substr(at, 1000));
  });
  f.here.then = [&] { f.io->set_reading(f.here, false); };
  BOOST_TEST(f.until([&] { return !f.here.received.empty(); }));
  while (f.here.received.size() < text.size()) {
    f.poll_until_idle();
    const std::size_t before = f.here.received.size();
    if (before == text.size()) break;
    f.poll_until_idle();
    BOOST_REQUIRE(f.here.received.size() == before);
    f.io->set_reading(f.here, true);
    BOOST_REQUIRE(f.until([&] { return f.here.received.size() > before; }));
  }
  saying.join();
  BOOST_TEST(all_said);
  BOOST_TEST((f.here.received == text));
}

QUINTET_ENGINE_TEST(what_a_stopped_stream_takes_is_bounded) {
  fixture f(kind);
  f.watch();
  f.io->set_reading(f.here, false);
  const std::string text = numbered(64 * 1024);
  std::size_t said = 0;
  for (int idle = 0; idle < 3;) {
    const ssize_t n = ::send(f.peer.get(), text.data(), text.size(), MSG_DONTWAIT);
    said += n > 0 ? static_cast<std::size_t>(n) : 0;
    idle = n > 0 ? 0 : idle + 1;
    f.poll_until_idle();
  }
  BOOST_TEST(said > 256U * 1024);
  BOOST_TEST(f.here.received.size() <= 128U * 1024);  // the kernel has room for more
  f.io->set_reading(f.here, true);
  BOOST_TEST(f.until([&] { return f.here.received.size() == said; }));
}

QUINTET_ENGINE_TEST(what_has_arrived_is_read_though_both_sides_have_finished_while_reading_was_off) {
  fixture f(kind);
  f.watch();
  f.io->set_reading(f.here, false);
  f.poll_until_idle();
  const std::string text = numbered(100'000);
  f.say(text);
  ::shutdown(f.peer.get(), SHUT_WR);
  f.io->shutdown_send(f.here);
  BOOST_TEST(f.heard(1).empty());  // it has arrived there, so what is said of it has arrived here
  f.poll_until_idle();
  BOOST_TEST(!f.here.ended);
  f.io->set_reading(f.here, true);
  BOOST_TEST(f.until([&] { return f.here.ended.has_value(); }));
  BOOST_TEST(!*f.here.ended);
  BOOST_TEST((f.here.received == text));
}

QUINTET_ENGINE_TEST(a_reset_is_told_while_reading_is_on_and_while_it_is_off) {
  for (const bool reading : {true, false}) {
    fixture f(kind);
    f.watch();
    f.say("x");
    BOOST_TEST(f.until([&] { return f.here.received == "x"; }));
    if (!reading) f.io->set_reading(f.here, false);
    f.poll_until_idle();
    f.here.then = [&] { f.io->remove(f.here); };
    f.reset();
    BOOST_REQUIRE(f.until([&] { return f.here.ended.has_value(); }));
    BOOST_TEST(*f.here.ended == reset_by_peer);
  }
}

// The peer takes nothing, so the kernel gives the connection up after TCP_USER_TIMEOUT.
QUINTET_ENGINE_TEST(a_stream_that_is_not_read_from_ends_with_the_error_of_its_socket) {
  fixture f(kind);
  f.watch();
  f.io->set_reading(f.here, false);
  f.poll_until_idle();
  const int patience = 1;  // milliseconds
  BOOST_REQUIRE(::setsockopt(f.handle, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience) == 0);
  const std::string much(64 * 1024, 'x');
  while (::send(f.handle, much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
  }
  f.here.then = [&] { f.io->remove(f.here); };
  BOOST_REQUIRE(f.until([&] { return f.here.ended.has_value(); }));
  BOOST_TEST(*f.here.ended == error_code(ETIMEDOUT, boost::system::system_category()));
}

// The kernel says EPIPE of a reset that comes after the peer's end.
QUINTET_ENGINE_TEST(a_reset_after_the_peers_end_is_a_reset_while_reading_is_off) {
  fixture f(kind);
  f.watch();
  f.io->set_reading(f.here, false);
  f.poll_until_idle();
  ::shutdown(f.peer.get(), SHUT_WR);
  f.poll_until_idle();
  f.here.then = [&] { f.io->remove(f.here); };
  f.reset();
  BOOST_REQUIRE(f.until([&] { return f.here.ended.has_value(); }));
  BOOST_TEST(*f.here.ended == reset_by_peer);
}

QUINTET_ENGINE_TEST(all_that_is_sent_arrives_in_order) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{20'000}, std::size_t{8'000'000}}) {
    fixture f(kind);
    f.watch();
    const std::string text = numbered(size);
    std::string heard;
    std::thread listening([&] { heard = f.heard(size); });
    f.send_all(text);
    f.poll_until_idle();
    listening.join();
    BOOST_TEST((heard == text));
  }
}

QUINTET_ENGINE_TEST(several_sends_in_one_turn_keep_their_order) {
  fixture f(kind);
  f.watch();
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    const std::string text = numbered(static_cast<std::size_t>(1 + 997 * i % 3000));
    f.send_all(text);
    expected += text;
  }
  f.poll_until_idle();
  BOOST_TEST((f.heard(expected.size()) == expected));
}

QUINTET_ENGINE_TEST(a_peer_that_is_gone_breaks_a_stream_sooner_or_later) {
  fixture f(kind);
  f.watch();
  f.io->set_reading(f.here, false);
  f.reset();
  error_code broken;
  BOOST_TEST(f.until([&] {
    if (!broken && !f.here.ended) (void)f.send("x", broken);
    return broken || f.here.ended;
  }));
}

QUINTET_ENGINE_TEST(a_removed_stream_hears_nothing_and_its_handle_belongs_to_the_next) {
  fixture f(kind);
  const int listener = f.io->sockets().listen("127.0.0.1:0");
  const file_descriptor other = connected_to(f.io->sockets().local_address(listener));
  f.watch();
  f.poll_until_idle();
  f.say("for the first");
  f.io->remove(f.here);
  f.io->close(f.handle);
  f.poll_until_idle();
  BOOST_REQUIRE(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC) == f.handle);  // the lowest that is free
  stream second;
  BOOST_REQUIRE(!f.io->add(second, f.handle));
  BOOST_REQUIRE(::send(other.get(), "second", 6, 0) == 6);
  BOOST_TEST(f.until([&] { return second.received == "second"; }));
  BOOST_TEST(f.here.received.empty());
  BOOST_TEST(!f.here.ended.has_value());
  f.io->remove(second);
  f.io->close(listener);
}

// Or by on_received(), as ever: that is up to the engine.
QUINTET_ENGINE_TEST(a_stream_may_ask_for_its_input_in_place) {
  fixture f(kind);
  f.watch();
  f.here.receive_in_place();
  f.here.room.resize(100'000);
  const std::string text = numbered(150'000);
  bool all_said = false;
  std::thread saying([&] { all_said = f.try_to_say(text); });
  BOOST_TEST(f.until([&] { return f.here.filled + f.here.received.size() == text.size(); }));
  saying.join();
  BOOST_TEST(all_said);
  BOOST_TEST((f.here.filled == 0 || f.here.filled == f.here.room.size()));
  BOOST_TEST((f.here.room.substr(0, f.here.filled) + f.here.received == text));
  const int asked = f.here.asked;
  f.say("small");  // without space it is not asked again
  BOOST_TEST(f.until([&] { return f.here.received.ends_with("small"); }));
  BOOST_TEST(f.here.asked == asked);
  f.here.room.resize(200'000);
  f.here.receive_in_place();
  f.peer.reset();
  BOOST_TEST(f.until([&] { return f.here.ended.has_value(); }));
  BOOST_TEST(!*f.here.ended);
}

QUINTET_ENGINE_TEST(a_stream_may_be_removed_when_it_is_asked_for_space) {
  fixture f(kind);
  f.watch();
  f.here.receive_in_place();
  f.here.then = f.here.asks = [&] { f.io->remove(f.here); };
  f.say("x");
  BOOST_TEST(f.until([&] { return f.here.handle() < 0; }));
  f.poll_until_idle();
  BOOST_TEST(f.here.received.size() <= 1U);
}

// While it also waits to send.
QUINTET_ENGINE_TEST(a_stream_that_waits_to_send_receives_in_place) {
  fixture f(kind);
  f.watch();
  const std::string text = numbered(8'000'000);
  f.here.room.resize(100'000);
  f.here.then = [&] { f.here.receive_in_place(); };
  std::string heard;
  std::thread listening([&] {
    heard = f.heard(1000);
    (void)f.try_to_say(numbered(100'000));
    heard += f.heard(text.size() - 1000);
  });
  f.here.receive_in_place();
  f.send_all(text);
  BOOST_TEST(f.until([&] { return f.here.filled + f.here.received.size() == 100'000; }));
  f.poll_until_idle();
  listening.join();
  BOOST_TEST((heard == text));
  BOOST_TEST(f.here.sendable > 0);
}

QUINTET_ENGINE_TEST(a_stream_may_be_removed_and_added_again_by_what_it_is_told) {
  fixture f(kind);
  f.watch();
  int times = 0;
  f.here.then = [&] {
    f.io->remove(f.here);
    if (++times < 20) f.watch();
  };
  for (int i = 0; i < 19; ++i) {
    f.say("x");
    BOOST_REQUIRE(f.until([&] { return times == i + 1; }));
  }
  BOOST_TEST(f.here.received == std::string(19, 'x'));
}

}  // namespace
}  // namespace quintet
