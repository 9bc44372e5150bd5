// SPDX-License-Identifier: BSL-1.0
// asio_stream_test: handlers on Asio's streams, in every model: reads, writes, cancellation, ends, and what stands on
// them.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "asio_names.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "journal.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/asio_beast.hpp>
#include <quintet/net/asio_stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/websocket.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;
using boost::system::system_error;

std::string round_trip(client& c, const std::string& text) {
  c.send(text);
  return c.receive(text.size());
}

/// Answers each byte with what has been seen; `check` may use the stream.
template <class Check>
void ask_once(model kind, Check check, const std::string& expected) {
  const auto handler = [check](asio_stream s) -> asio::awaitable<void> {
    std::array<char, 16> data;
    const std::size_t count = co_await s.async_read_some(asio::buffer(data), use_awaitable);
    std::string answer = co_await check(s);
    answer += '\n';
    if (count > 0) co_await asio::async_write(s, asio::buffer(answer), use_awaitable);
  };
  running<server> srv(of(kind), handler);
  client c(srv->port());
  c.send("?");
  BOOST_TEST(c.receive_line() == expected);
  BOOST_TEST(c.receive_rest().empty());
}

// ---- Ends -----------------------------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(after_the_peers_end_the_handler_still_writes, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    std::string all;
    const auto [why, count] = co_await asio::async_read(s, asio::dynamic_buffer(all), as_result);
    all += why == asio::error::eof ? " eof" : " " + why.message();
    co_await asio::async_write(s, asio::buffer(all), use_awaitable);
  });
  client c(srv->port());
  c.send("half");
  c.finish_sending();
  BOOST_TEST(c.receive_rest() == "half eof");
  BOOST_TEST((c.ended() == ending::orderly));
}

BOOST_DATA_TEST_CASE(this_side_ends_sending_first, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    co_await asio::async_write(s, asio::buffer("all", 3), use_awaitable);
    s.shutdown_send();
    std::string rest;
    (void)co_await asio::async_read(s, asio::dynamic_buffer(rest), as_result);
    const auto [why, count] = co_await s.async_write_some(asio::buffer("more", 4), as_result);
    if (rest != "received" || why != error_code(EPIPE, boost::system::system_category()))
      throw std::logic_error(rest + ", " + why.message());
  });
  client c(srv->port());
  BOOST_TEST(c.receive_rest() == "all");
  c.send("received");
  c.close();
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 1; }));
  BOOST_TEST(srv->statistics().handler_errors == 0u);
}

struct heard {
  std::atomic<int> ended{0}, as_expected{0};
  void add(bool right) {
    as_expected += right;
    ++ended;
  }
};

BOOST_DATA_TEST_CASE(a_reset_is_the_reason, data::make(all_models), kind) {
  heard seen;
  running<server> srv(of(kind), [&seen](asio_stream s) -> asio::awaitable<void> {
    std::array<char, 16> data;
    co_await asio::async_write(s, asio::buffer("hello", 5), use_awaitable);
    const auto [why, count] = co_await s.async_read_some(asio::buffer(data), as_result);
    seen.add(why == asio::error::connection_reset);
  });
  client c(srv->port());
  BOOST_TEST(c.receive(5) == "hello");
  c.reset();
  BOOST_TEST(eventually([&] { return seen.ended == 1; }));
  BOOST_TEST(seen.as_expected == 1);
}

BOOST_DATA_TEST_CASE(stop_ends_what_handlers_wait_for, data::make(all_models), kind) {
  heard reads, timers;
  running<server> srv(of(kind), [&](asio_stream s) -> asio::awaitable<void> {
    std::array<char, 16> data;
    const std::size_t count = co_await s.async_read_some(asio::buffer(data), use_awaitable);
    co_await asio::async_write(s, asio::buffer("waiting", 7), use_awaitable);
    if (count > 0 && data[0] == 'r') {
      const auto [why, more] = co_await s.async_read_some(asio::buffer(data), as_result);
      reads.add(why == errc::stopped);
    } else {
      asio::steady_timer for_ever(s.get_executor(), 24h);
      const auto [why] = co_await for_ever.async_wait(as_result);
      timers.add(why == asio::error::operation_aborted);
    }
  });
  std::vector<client> clients;
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back(srv->port());
    clients.back().send(i % 2 ? "r" : "t");
    BOOST_REQUIRE(clients.back().receive(7) == "waiting");
  }
  srv.stop();
  srv.join();
  BOOST_TEST(srv->statistics().closed == 6u);
  BOOST_TEST(reads.as_expected == 3);
  BOOST_TEST(timers.as_expected == 3);
  BOOST_TEST(srv->statistics().handler_errors == 0u);
}

BOOST_DATA_TEST_CASE(a_drain_ends_reads_and_lets_the_handler_say_goodbye, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    std::array<char, 16> data;
    for (;;) {
      const auto [why, count] = co_await s.async_read_some(asio::buffer(data), as_result);
      std::string text(data.data(), count);
      if (why) text = why == errc::stopped && s.draining() ? "goodbye" : why.message();
      co_await asio::async_write(s, asio::buffer(text), use_awaitable);
      if (why) co_return;
    }
  });
  std::vector<client> clients;
  for (int i = 0; i < 5; ++i) {
    clients.emplace_back(srv->port());
    BOOST_REQUIRE(round_trip(clients.back(), "hello") == "hello");
  }
  srv->drain(patience);
  for (client& c : clients) BOOST_TEST(c.receive_rest() == "goodbye");
  srv.join();
}

BOOST_DATA_TEST_CASE(an_exception_ends_one_connection, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    std::array<char, 16> data;
    const std::size_t count = co_await s.async_read_some(asio::buffer(data), use_awaitable);
    if (count > 0 && data[0] == 't') throw std::runtime_error("as asked");
    if (count > 0 && data[0] == 'c') {  // in a completion, while the coroutine waits
      s.async_read_some(asio::buffer(data),
                        [](error_code, std::size_t) { throw std::runtime_error("in a completion"); });
      co_await asio::async_write(s, asio::buffer("go", 2), use_awaitable);
      asio::steady_timer for_ever(s.get_executor(), 24h);
      co_await for_ever.async_wait(use_awaitable);
    }
    co_await asio::async_write(s, asio::buffer(data, count), use_awaitable);
  });
  client one(srv->port()), two(srv->port()), three(srv->port());
  one.send("t");
  BOOST_TEST(one.receive_rest().empty());
  two.send("c");
  BOOST_TEST(two.receive(2) == "go");
  two.send("x");
  BOOST_TEST(two.receive_rest().empty());
  BOOST_TEST(round_trip(three, "fine") == "fine");
  BOOST_TEST(eventually([&] { return srv->statistics().handler_errors == 2; }));
}

// The handler knows of the end by then, so what it throws is about something else.
BOOST_DATA_TEST_CASE(an_exception_after_the_end_is_the_handlers, data::make(all_models), kind) {
  journal log;
  config with = of(kind);
  with.log = log.hook();
  running<server> srv(with, [](asio_stream s) -> asio::awaitable<void> {
    std::array<char, 16> data;
    const std::size_t count = co_await s.async_read_some(asio::buffer(data), use_awaitable);
    const auto [why, more] = co_await s.async_read_some(asio::buffer(data), as_result);
    if (why != asio::error::eof || count == 0) throw std::logic_error("no end");
    if (data[0] == 's') throw system_error(error_code(EIO, boost::system::system_category()), "a file");
    asio::steady_timer pause(s.get_executor(), 1ms);
    co_await pause.async_wait(use_awaitable);
    if (data[0] == 'l') throw system_error(asio::error::host_not_found, "a database");
    co_await s.async_read_some(asio::buffer(data), use_awaitable);  // ends by the stream's end
  });
  for (const char* const text : {"s", "l", "e"}) {
    client c(srv->port());
    c.send(text);
    c.finish_sending();
    BOOST_TEST(c.receive_rest().empty());
  }
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 3; }));
  srv.stop();
  srv.join();
  BOOST_TEST(srv->statistics().handler_errors == 2u);
  BOOST_TEST(log.has("warning: 127.0.0.1:", "a handler threw an exception: a file"));
  BOOST_TEST(log.has("warning: 127.0.0.1:", "a handler threw an exception: a database"));
}

// Beast and `&&` give the end other names.
BOOST_DATA_TEST_CASE(an_end_by_another_name_is_no_exception_of_the_handler, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    using namespace asio::experimental::awaitable_operators;
    std::array<char, 16> data;
    const auto ticks = [](asio_stream& to) -> asio::awaitable<void> {
      asio::steady_timer pause(to.get_executor(), 24h);
      co_await pause.async_wait(use_awaitable);
    };
    const auto reads = [&data](asio_stream& from) -> asio::awaitable<void> {
      for (;;) co_await from.async_read_some(asio::buffer(data), use_awaitable);
    };
    co_await (reads(s) && ticks(s));
  });
  client c(srv->port());
  c.send("x");
  c.finish_sending();
  BOOST_TEST(c.receive_rest().empty());
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 1; }));
  BOOST_TEST(srv->statistics().handler_errors == 0u);
}

BOOST_DATA_TEST_CASE(an_exception_behind_an_offloaded_function_ends_the_connection, data::make(all_models), kind) {
  journal log;
  config with = of(kind);
  with.log = log.hook();
  running<server> srv(with, [](asio_stream s) {
    const auto shared = std::make_shared<asio_stream>(std::move(s));
    shared->async_offload([] { return 7; },
                          [shared](const std::exception_ptr&, int result) {
                            throw std::runtime_error("behind " + std::to_string(result));
                          });
  });
  client c(srv->port());
  BOOST_TEST(c.receive_rest().empty());
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 1; }));
  BOOST_TEST(srv->statistics().handler_errors == 1u);
  BOOST_TEST(log.has("warning: 127.0.0.1:", "a handler threw an exception: behind 7"));
}

// A completion of a timer, which is no coroutine.
BOOST_DATA_TEST_CASE(an_exception_of_a_timers_handler_is_logged, data::make(all_models), kind) {
  journal log;
  config with = of(kind);
  with.log = log.hook();
  running<server> srv(with, [](asio_stream s) {
    struct both {
      asio::steady_timer timer;
      asio_stream stream;
    };
    const auto kept =
        std::make_shared<both>(both{.timer = asio::steady_timer(s.get_executor(), 1ms), .stream = std::move(s)});
    kept->timer.async_wait([kept](error_code) { throw std::runtime_error("after a while"); });
  });
  client c(srv->port());
  BOOST_TEST(c.receive_rest().empty());
  BOOST_TEST(eventually([&] { return srv->statistics().handler_errors == 1; }));
  srv.stop();
  srv.join();
  BOOST_TEST(log.has("warning: a function of a loop threw an exception: ", "after a while"));
}

BOOST_DATA_TEST_CASE(close_cancels_and_sends_the_rest, data::make(all_models), kind) {
  heard seen;
  running<server> srv(of(kind), [&seen](asio_stream s) -> asio::awaitable<void> {
    std::array<char, 16> data;
    asio::steady_timer woken(s.get_executor(), 24h);
    s.async_read_some(asio::buffer(data), [&](error_code why, std::size_t) {
      seen.add(why == asio::error::operation_aborted);
      woken.cancel();
    });
    co_await asio::async_write(s, asio::buffer("last words", 10), use_awaitable);
    s.close();
    (void)co_await woken.async_wait(as_result);
  });
  client c(srv->port());
  BOOST_TEST(c.receive_rest() == "last words");
  BOOST_TEST(eventually([&] { return seen.ended == 1; }));
  BOOST_TEST(seen.as_expected == 1);
}

// ---- The pool -------------------------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(functions_run_where_the_model_says, data::make(all_models), kind) {
  const auto check = [kind](asio_stream& s) -> asio::awaitable<std::string> {
    event_loop& loop = s.loop();
    const bool here = co_await s.async_offload([&loop] { return loop.in_this_thread(); }, use_awaitable);
    co_await s.async_offload([] {}, use_awaitable);
    std::string text = here == !is_pooled(kind) ? "right" : "wrong";
    text += loop.in_this_thread() ? " back" : " lost";
    try {
      co_await s.async_offload([]() -> int { throw std::runtime_error("thrown"); }, use_awaitable);
    } catch (const std::runtime_error& e) {
      text += std::string(" ") + e.what();
    }
    co_return text;
  };
  ask_once(kind, check, "right back thrown");
}

// ---- Beast ----------------------------------------------------------------------------------------------------------

namespace websocket = boost::beast::websocket;

asio::awaitable<void> websocket_echo(asio_stream s) {
  websocket::stream<asio_stream> ws(std::move(s));
  co_await ws.async_accept(use_awaitable);
  boost::beast::flat_buffer buffer;
  for (;;) {
    co_await ws.async_read(buffer, use_awaitable);
    ws.text(ws.got_text());
    co_await ws.async_write(buffer.data(), use_awaitable);
    buffer.clear();
  }
}

/// A client's frame of at most 125 bytes, with a mask of zeroes.
std::string frame(unsigned char first, const std::string& text) {
  return std::string{static_cast<char>(first), static_cast<char>(0x80 | text.size()), 0, 0, 0, 0} + text;
}

BOOST_DATA_TEST_CASE(beasts_websocket_echoes, data::make(all_models), kind) {
  running<server> srv(of(kind), &websocket_echo);
  client c(srv->port());
  c.send(
      "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  BOOST_TEST(c.receive_line().starts_with("HTTP/1.1 101"));
  while (!c.receive_line().starts_with("\r")) {
  }
  c.send(frame(0x81, "one"));
  BOOST_TEST(c.receive(5) == "\x81\x03one");
  c.send(frame(0x01, "fra") + frame(0x89, "ping") + frame(0x80, "gments"));
  BOOST_TEST(c.receive(6) == "\x8a\x04ping");
  BOOST_TEST(c.receive(11) ==
             "\x81\x09"
             "fragments");
  c.send(frame(0x88, std::string("\x03\xe8", 2)));
  BOOST_TEST(c.receive_rest() == std::string("\x88\x02\x03\xe8", 4));
  BOOST_TEST((c.ended() == ending::orderly));
  c.close();  // Beast waits for it
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 1; }));
  BOOST_TEST(srv->statistics().handler_errors == 0u);
}

}  // namespace
}  // namespace quintet::test
