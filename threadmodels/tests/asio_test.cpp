// SPDX-License-Identifier: BSL-1.0
// asio_test: Asio operations that a coroutine awaits complete on the connection's own loop, in every model.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/sockets.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>

namespace quintet::test {
namespace {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using asio::ip::tcp;
using namespace std::chrono_literals;

/// Answers every byte: 'y' if the timer completed on the loop's thread.
awaitable<> timed(stream& s) {
  const auto home = std::this_thread::get_id();
  while (const auto in = co_await s.read()) {
    for (std::size_t i = 0; i < in->size(); ++i) {
      asio::steady_timer t(s.get_executor(), 1ms);
      co_await t.async_wait(asio::deferred);
      const bool at_home = std::this_thread::get_id() == home && s.loop().in_this_thread();
      s.write(at_home ? "y" : "n");
    }
  }
}

/// The same with Asio's own coroutine type.
asio::awaitable<std::size_t> ask(tcp::endpoint whom, std::string question, std::string& reply) {
  tcp::socket socket(co_await asio::this_coro::executor);
  co_await socket.async_connect(whom, asio::use_awaitable);
  co_await asio::async_write(socket, asio::buffer(question), asio::use_awaitable);
  reply.resize(question.size());
  co_return co_await asio::async_read(socket, asio::buffer(reply), asio::use_awaitable);
}

tcp::endpoint local(std::uint16_t port) { return {asio::ip::make_address("127.0.0.1"), port}; }

/// Forwards to another server, over a connection of its own.
class proxy {
 public:
  explicit proxy(std::uint16_t port) : behind_(local(port)) {}
  awaitable<> operator()(stream& s) const { return forward(s, behind_); }

 private:
  static awaitable<> forward(stream& s, tcp::endpoint behind) {
    tcp::socket socket(s.get_executor());
    co_await socket.async_connect(behind, asio::deferred);
    std::string reply;
    while (const auto in = co_await s.read()) {
      co_await asio::async_write(socket, asio::buffer(*in), asio::deferred);
      reply.resize(in->size());
      const std::size_t got = co_await asio::async_read(socket, asio::buffer(reply), asio::deferred);
      s.write(s.loop().in_this_thread() ? bytes(reply).substr(0, got) : "wrong thread");
    }
  }
  tcp::endpoint behind_;
};

/// Waits for far longer than any test, so only cancellation ends the wait.
awaitable<> wait_for_ever(stream& s) {
  s.write("waiting");
  s.flush();
  asio::steady_timer t(s.get_executor(), 24h);
  co_await t.async_wait(asio::deferred);
}

std::string round_trip(client& c, const std::string& text) {
  c.send(text);
  return c.receive(text.size());
}

const auto echo = [](connection& c, bytes in) { c.write(in); };

BOOST_DATA_TEST_CASE(a_timer_completes_on_the_connections_own_thread, data::make(all_models), kind) {
  running<server> srv(config{.model = kind, .threads = {.loops = 2}}, &timed);
  std::vector<client> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(srv->port());
  for (client& c : clients) c.send("abc");
  for (client& c : clients) BOOST_TEST(c.receive(3) == "yyy");
  for (client& c : clients) BOOST_TEST((c.send("d"), c.receive(1)) == "y");
}

// The loop serves other connections while one of its coroutines awaits.
BOOST_DATA_TEST_CASE(a_coroutine_that_awaits_delays_nobody, data::make(all_models), kind) {
  const auto either = [](stream& s) -> awaitable<> {
    const auto first = co_await s.read();
    if (!first) co_return;
    if (first->front() == 'w') co_await wait_for_ever(s);
    s.write(*first);
  };
  running<server> srv(config{.model = kind, .threads = {.loops = 1}}, either);
  client waits(srv->port());
  waits.send("w");
  BOOST_REQUIRE(waits.receive(7) == "waiting");
  for (int i = 0; i < 10; ++i) {
    client c(srv->port());
    BOOST_TEST(round_trip(c, "quick") == "quick");
  }
}

BOOST_DATA_TEST_CASE(a_client_awaited_in_a_handler, data::make(all_models), kind) {
  running<server> behind(config{}, echo);
  running<server> front(config{.model = kind, .threads = {.loops = 2}}, proxy(behind->port()));
  std::vector<client> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(front->port());
  for (int i = 0; i < 50; ++i)
    for (client& c : clients)
      BOOST_REQUIRE(round_trip(c, "through " + std::to_string(i)) == "through " + std::to_string(i));
  const std::string large(3'000'000, 'z');
  std::thread sender([&] { clients[0].send(large); });
  BOOST_TEST((clients[0].receive(large.size()) == large));
  sender.join();
}

BOOST_DATA_TEST_CASE(asios_own_coroutines_can_be_awaited, data::make(all_models), kind) {
  running<server> behind(config{}, echo);
  const auto asking = [port = behind->port()](stream& s) -> awaitable<> {
    const auto in = co_await s.read();
    if (!in) co_return;
    std::string reply;
    const std::size_t count = co_await ask(local(port), std::string(*in), reply);
    s.write(s.loop().in_this_thread() ? reply + std::to_string(count) : "wrong thread");
  };
  running<server> front(config{.model = kind}, asking);
  client c(front->port());
  c.send("hello");
  BOOST_TEST(c.receive_rest() == "hello5");
}

BOOST_DATA_TEST_CASE(an_operation_that_fails_throws_in_the_coroutine, data::make(all_models), kind) {
  const quintet::testing::own_address nobody;
  running<server> front(config{.model = kind}, proxy(nobody.at().port()));
  client c(front->port());
  BOOST_TEST(c.receive_rest().empty());
  BOOST_TEST(eventually([&] { return front->statistics().handler_errors == 1; }));
}

BOOST_DATA_TEST_CASE(stop_cancels_what_coroutines_await, data::make(all_models), kind) {
  running<server> srv(config{.model = kind, .threads = {.loops = 2}}, &wait_for_ever);
  std::vector<client> clients;
  for (int i = 0; i < 5; ++i) {
    clients.emplace_back(srv->port());
    BOOST_REQUIRE(clients.back().receive(7) == "waiting");
  }
  srv.stop();
  srv.join();
  BOOST_TEST(srv->statistics().closed == 5u);
}

/// An operation that destroys its handler instead of calling it: when it starts, or later.
auto abandoned(loop_executor on, bool later) {
  return asio::async_initiate<const asio::deferred_t, void(error_code)>(
      [on, later](auto handler) {
        auto abandon = [h = std::move(handler)]() mutable { const auto gone = std::move(h); };
        if (later) asio::post(on, std::move(abandon));
      },
      asio::deferred);
}
awaitable<> await_abandoned(stream& s) {
  while (const auto in = co_await s.read()) {
    const std::string kinds(*in);
    for (const char kind : kinds) {
      try {
        co_await abandoned(s.get_executor(), kind == 'l');
        s.write("completed");
      } catch (const boost::system::system_error& e) {
        s.write(e.code() == asio::error::operation_aborted ? "a" : "other");
      }
    }
  }
}

/// Asio's coroutine waits for the timer, and the connection's coroutine waits for Asio's.
struct waits_for_a_timer {
  asio::steady_timer** timer;
  connection_id* id;
  std::atomic<int>* ended;
  static asio::awaitable<void> wait(asio::steady_timer& t) { co_await t.async_wait(asio::use_awaitable); }
  awaitable<> operator()(stream& s) const {
    asio::steady_timer t(s.get_executor(), 24h);
    *timer = &t;
    *id = s.id();
    s.write("waiting");
    s.flush();
    try {
      co_await wait(t);
    } catch (const boost::system::system_error&) {
    }
    ++*ended;
  }
};

// The wait of Asio's coroutine ends, and in the same turn of the loop the connection is aborted, before or after.
BOOST_DATA_TEST_CASE(an_abort_meets_the_end_of_an_asio_coroutine, data::make(all_models) * data::make({true, false}),
                     kind, abort_first) {
  asio::steady_timer* timer = nullptr;
  connection_id id{};
  std::atomic<int> ended{0};
  running<server> srv(config{.model = kind, .threads = {.loops = 1}}, waits_for_a_timer{&timer, &id, &ended});
  for (int i = 1; i <= 10; ++i) {
    client c(srv->port());
    BOOST_REQUIRE(c.receive(7) == "waiting");
    asio::post(timer->get_executor(), [&, first = abort_first] {
      if (first) (void)srv->connections().abort(id);
      timer->cancel();
      if (!first) (void)srv->connections().abort(id);
    });
    BOOST_TEST(c.receive_rest().empty());
    BOOST_REQUIRE(eventually([&] { return ended == i; }));
  }
}

// Asio abandons operations of its own coroutines when one of their steps finds no memory.
BOOST_DATA_TEST_CASE(an_abandoned_operation_throws_in_the_coroutine, data::make(all_models), kind) {
  running<server> srv(config{.model = kind}, &await_abandoned);
  client c(srv->port());
  BOOST_TEST(c.send("nlnl"));
  BOOST_TEST(c.receive(4) == "aaaa");
}

// Work that another thread posts to a loop's executor runs on the loop's thread, even if the loop sleeps outside of
// Asio.
BOOST_DATA_TEST_CASE(the_executor_takes_work_from_any_thread, data::make(all_models), kind) {
  struct publisher {
    std::promise<event_loop*>* loop;
    void on_open(connection& c) const { loop->set_value(&c.loop()); }
    void operator()(connection& c, bytes in) const { c.write(in); }
  };
  std::promise<event_loop*> promise;
  running<server> srv(config{.model = kind}, publisher{&promise});
  client c(srv->port());
  event_loop& loop = *promise.get_future().get();
  for (int i = 0; i < 50; ++i) {
    std::promise<bool> ran;
    auto result = ran.get_future();
    asio::post(loop.get_executor(), [&] { ran.set_value(loop.in_this_thread()); });
    BOOST_REQUIRE((result.wait_for(patience) == std::future_status::ready));
    BOOST_REQUIRE(result.get());
    BOOST_REQUIRE(round_trip(c, "between") == "between");
  }
}

}  // namespace
}  // namespace quintet::test
