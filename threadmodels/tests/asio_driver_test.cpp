// SPDX-License-Identifier: BSL-1.0
// asio_driver_test: servers inside of the program's io_context, in every model, beside the program's own operations.
#include "client.hpp"
#include "combination.hpp"
#include "waiting.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace quintet::test {
namespace {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using asio::use_awaitable;
using asio::ip::tcp;
using namespace std::chrono_literals;

/// A tick of the program's own between two looks.
constexpr auto tick = 5ms;

config of(model kind) {
  config c{.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 2, .workers = {1, 2}}};
  c.engine = engine_kind::epoll;
  return c;
}

void echo(connection& c, bytes in) { c.write(in); }

void rethrow(const std::exception_ptr& failure) {
  if (failure) std::rethrow_exception(failure);
}

/// The program's client, in its io_context: so many round trips, one after the other.
asio::awaitable<void> talk(std::uint16_t port, int times) {
  tcp::socket socket(co_await asio::this_coro::executor);
  co_await socket.async_connect({asio::ip::address_v4::loopback(), port}, use_awaitable);
  std::string reply(8, ' ');
  for (int i = 0; i < times; ++i) {
    co_await asio::async_write(socket, asio::buffer("question", 8), use_awaitable);
    co_await asio::async_read(socket, asio::buffer(reply), use_awaitable);
    BOOST_TEST(reply == "question");
  }
}

/// Ticks until `done`.
asio::awaitable<void> tick_until(std::function<bool()> done, int& ticks) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (; !done(); ++ticks) {
    timer.expires_after(tick);
    co_await timer.async_wait(use_awaitable);
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(it_serves_beside_a_timer_and_a_client_of_the_program, data::make(all_models), kind) {
  asio::io_context context(1);
  server srv(of(kind), echo);
  bool has_ended = false;
  const asio_driver driver(srv, context, [&] { has_ended = true; });
  int talking = 3, ticks = 0;
  for (int i = 0; i < 3; ++i)
    asio::co_spawn(context, talk(srv.port(), 200), [&](const std::exception_ptr& failure) {
      rethrow(failure);
      --talking;
    });
  asio::co_spawn(context, tick_until([&] { return talking == 0; }, ticks), [&](const std::exception_ptr& failure) {
    rethrow(failure);
    srv.stop();
  });
  context.run();
  BOOST_TEST(has_ended);
  BOOST_TEST(ticks > 0);
  BOOST_TEST(srv.main_loop().finished());
  BOOST_TEST(srv.statistics().closed == 3u);
}

BOOST_DATA_TEST_CASE(another_thread_stops_it, data::make(all_models), kind) {
  asio::io_context context(1);
  server srv(of(kind), echo);
  const asio_driver driver(srv, context);
  std::thread stopping([&] {
    client c(srv.port());
    c.send("x");
    BOOST_TEST(c.receive(1) == "x");
    srv.stop();
    BOOST_TEST(c.receive_rest().empty());
  });
  context.run();
  stopping.join();
  BOOST_TEST(srv.statistics().closed == 1u);
}

BOOST_DATA_TEST_CASE(a_drain_answers_what_was_received, data::make(all_models), kind) {
  struct saying_goodbye {
    void operator()(connection& c, bytes in) const { c.write(in); }
    void on_drain(connection& c) const { c.write("goodbye"); }
  };
  asio::io_context context(1);
  server srv(of(kind), saying_goodbye());
  const asio_driver driver(srv, context);
  std::thread draining([&] {
    client c(srv.port());
    c.send("x");
    BOOST_TEST(c.receive(1) == "x");
    srv.drain(1min);
    BOOST_TEST(c.receive_rest() == "goodbye");
  });
  context.run();
  draining.join();
  BOOST_TEST(srv.statistics().closed == 1u);
}

BOOST_AUTO_TEST_CASE(a_stop_before_the_first_turn_ends_it) {
  asio::io_context context(1);
  server srv(of(model::single_reactor), echo);
  const asio_driver driver(srv, context);
  srv.stop();
  context.run();
  BOOST_TEST(srv.main_loop().finished());
}

// ---- Waiting --------------------------------------------------------------------------------------------------------

namespace {

/// Returns whether the main loop makes no turn during ten ticks of the program. It looks again after late work of a
/// busy machine. A loop that polls never rests.
bool comes_to_rest(asio::io_context& context, server& srv) {
  for (int tries = 0; tries < 100; ++tries) {
    const std::uint64_t before = srv.main_loop().counters().turns.value();
    context.run_for(10 * tick);
    if (srv.main_loop().counters().turns.value() == before) return true;
  }
  return false;
}

}  // namespace

BOOST_DATA_TEST_CASE(idle_operations_of_the_program_cost_no_turn, data::make(all_models), kind) {
  asio::io_context context(1);
  server srv(of(kind), echo);
  const asio_driver driver(srv, context);
  bool is_open = false;
  tcp::socket own(context);
  own.async_connect({asio::ip::address_v4::loopback(), srv.port()}, [&](const error_code&) { is_open = true; });
  while (!is_open || srv.statistics().opened == 0) context.run_one_for(tick);
  std::string answer(1, ' ');
  asio::async_read(own, asio::buffer(answer), [](const error_code&, std::size_t) {});
  BOOST_TEST(comes_to_rest(context, srv));
  srv.stop();
  context.run();
}

// The operation is one of the program's io_context, which resumes the handler on its loop.
BOOST_AUTO_TEST_CASE(a_handler_that_awaits_the_context_costs_no_turn) {
  asio::io_context context(1);
  asio::steady_timer timer(context, 1h);
  bool awaits = false;
  const auto waiting = [&](stream& s) -> awaitable<> {
    (void)co_await s.read();
    awaits = true;
    BOOST_CHECK_THROW(co_await timer.async_wait(asio::deferred), boost::system::system_error);
    s.write(s.loop().in_this_thread() ? "y" : "n");
  };
  server srv(of(model::single_reactor), waiting);
  const asio_driver driver(srv, context);
  client c(srv.port());
  c.send("x");
  while (!awaits) context.run_one_for(tick);
  BOOST_TEST(!srv.main_loop().has_detached_work());
  BOOST_TEST(comes_to_rest(context, srv));
  timer.cancel();
  srv.drain(1min);
  context.run();
  BOOST_TEST(c.receive_rest() == "y");
}

BOOST_AUTO_TEST_CASE(timers_of_its_loop_wake_it) {
  asio::io_context context(1);
  server srv(of(model::single_reactor), echo);
  std::string fired;
  srv.main_loop().after(1h, [&] { fired += 'c'; });
  srv.main_loop().after(10ms, [&] {
    fired += 'a';
    srv.main_loop().after(1ms, [&] {
      fired += 'b';
      srv.stop();
    });
  });
  const asio_driver driver(srv, context);
  context.run();
  BOOST_TEST(fired == "ab");
}

BOOST_AUTO_TEST_CASE(every_post_wakes_it) {
  asio::io_context context(1);
  server srv(of(model::single_reactor), echo);
  const asio_driver driver(srv, context);
  std::atomic<int> ran{0};
  std::thread posting([&] {
    for (int i = 0; i < 2000; ++i) {
      srv.main_loop().post([&] {
        ++ran;
        ran.notify_one();
      });
      ran.wait(i);
    }
    srv.stop();
  });
  context.run();
  posting.join();
  BOOST_TEST(ran == 2000);
}

BOOST_AUTO_TEST_CASE(two_servers_and_a_client_share_one_context) {
  struct asking {
    void on_open(connection& c) const { c.write("question"); }
    void operator()(connection& c, bytes in) const {
      *answered += in.size();
      if (*answered < 100 * 8) {
        c.write(in);
      } else {
        c.close();
        (*done)();
      }
    }
    std::size_t* answered;
    const std::function<void()>* done;
  };
  asio::io_context context(1);
  server one(of(model::single_reactor), echo), two(of(model::loop_per_thread), echo);
  std::size_t answered = 0;
  std::optional<client_core*> asker;
  const std::function<void()> done = [&] {
    (*asker)->stop();
    one.stop();
    two.drain(1min);
  };
  client_config how{.model = model::single_reactor};
  how.engine = engine_kind::epoll;
  quintet::client with(how, asking{&answered, &done});
  asker = &with;
  const asio_driver first(one, context), second(two, context), third(with, context);
  with.connect(one.addresses().front());
  context.run();
  BOOST_TEST(answered == 100u * 8);
  BOOST_TEST((one.main_loop().finished() && two.main_loop().finished() && with.main_loop().finished()));
}

}  // namespace quintet::test
