// SPDX-License-Identifier: BSL-1.0
// cancelling_test: a coroutine that begins operations after the end of its connection, or during a drain, in every
// model.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/connection_pool.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <ostream>
#include <string>
#include <utility>

namespace quintet::test {
namespace {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

struct nobody_there : connection_pool {
  explicit nobody_there(event_loop& loop) : connection_pool(loop, "127.0.0.1:1") {}
};

/// Cannot be cancelled the first time: there is no memory for it.
auto hard_to_cancel(loop_executor on) {
  return asio::async_initiate<const asio::deferred_t, void(error_code)>(
      [on](auto handler) {
        auto slot = asio::get_associated_cancellation_slot(handler);
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        slot.assign([on, kept, first = true](asio::cancellation_type) mutable {
          if (std::exchange(first, false)) throw std::bad_alloc();
          asio::post(on, [kept] { (*kept)(error_code(asio::error::operation_aborted)); });
        });
      },
      asio::deferred);
}

/// Begins its next operation whenever one was cancelled, as retries with back-off do. Reads first if its peer says so.
class retries {
 public:
  explicit retries(std::string* log) : log_(log) {}
  awaitable<> operator()(stream& s) const { return run(s, *log_); }

 private:
  static asio::awaitable<void> wait(asio::steady_timer& t) { co_await t.async_wait(asio::use_awaitable); }
  template <class Operation>
  static awaitable<char> result_of(Operation op) {
    try {
      co_await std::move(op);
      co_return 'c';
    } catch (const boost::system::system_error& e) {
      co_return e.code() == asio::error::operation_aborted ? 'x' : e.code() == errc::stopped ? 's' : 'a';
    }
  }
  static awaitable<> run(stream& s, std::string& log) {
    const auto first = co_await s.read();
    const bool reads = first && *first == "r";
    s.write("waiting");
    s.flush();
    while (reads && co_await s.read()) {
    }
    asio::steady_timer t(s.get_executor(), 24h);
    log += co_await result_of(t.async_wait(asio::deferred));
    log += co_await result_of(t.async_wait(asio::deferred));
    log += co_await result_of(wait(t));
    log += co_await result_of(hard_to_cancel(s.get_executor()));
    const auto [as_value] = co_await t.async_wait(asio::as_tuple(asio::deferred));
    log += as_value == asio::error::operation_aborted ? 'x' : 'c';
    log += co_await result_of(s.loop().use<nobody_there>().get());
    log += co_await result_of(s.offload([&] { log += "begun"; }));
    log += s.write("lost") ? 'w' : '.';
  }
  std::string* log_;
};

enum class ending { stop, drain, abort };
std::ostream& operator<<(std::ostream& out, ending e) {
  return out << (e == ending::stop ? "stop" : e == ending::drain ? "drain" : "abort");
}

// The reason for a cancellation lasts: it holds for the operation in progress, and for all that begin afterwards.
BOOST_DATA_TEST_CASE(operations_that_begin_after_the_end_are_cancelled,
                     data::make(all_models) * data::make({ending::stop, ending::drain, ending::abort}) *
                         data::make({"w", "r"}),
                     kind, how, first) {
  std::string log;
  running<server> srv(config{.model = kind, .threads = {.loops = 1}}, retries(&log));
  client c(srv->port());
  c.send(first);
  BOOST_REQUIRE(c.receive(7) == "waiting");
  if (how == ending::abort) {
    BOOST_TEST(!srv->connections().abort(srv->connections().all().at(0)));
    BOOST_TEST(eventually([&] { return srv->statistics().closed == 1; }));
  }
  if (how == ending::drain)
    srv->drain(1ms);
  else
    srv.stop();
  srv.join();
  BOOST_TEST(log == (how == ending::abort ? "xxxxxaa." : "xxxxxss."));
}

/// Watches draining() while it awaits something else.
awaitable<> wait_for_drain(stream& s) {
  s.write("waiting");
  s.flush();
  asio::steady_timer t(s.get_executor());
  while (!s.draining()) {
    t.expires_after(1ms);
    co_await t.async_wait(asio::deferred);
  }
  s.write("drains");
}

BOOST_DATA_TEST_CASE(a_coroutine_that_awaits_learns_of_a_drain, data::make(all_models), kind) {
  running<server> srv(config{.model = kind, .threads = {.loops = 1}}, &wait_for_drain);
  client c(srv->port());
  BOOST_REQUIRE(c.receive(7) == "waiting");
  srv->drain(24h);
  BOOST_TEST(c.receive_rest() == "drains");
}

/// Works in a function of offload() until the connection has ended, and then writes.
struct works_past_the_end {
  std::atomic<bool>* begun;  // a function that the pool has not begun by the deadline never begins
  std::atomic<bool>* may_return;
  std::atomic<int>* refused;
  bool is_pooled;
  awaitable<> operator()(stream& s) const {
    s.write("working");
    s.flush();
    if (is_pooled) {
      co_await s.offload([this] {
        *begun = true;
        may_return->wait(false);
      });
    } else {
      asio::steady_timer t(s.get_executor(), 24h);
      (void)co_await t.async_wait(asio::as_tuple(asio::deferred));
    }
    // Not draining(): on a loop that was held up for longer than the drain lasts, its deadline comes first.
    *refused = !s.write("lost") && s.write_error() == boost::system::errc::broken_pipe ? 1 : 2;
  }
};

BOOST_DATA_TEST_CASE(output_after_the_deadline_of_a_drain_is_refused, data::make(all_models), kind) {
  std::atomic<bool> begun{!is_pooled(kind)}, may_return{false};
  std::atomic<int> refused{0};
  running<server> srv(config{.model = kind, .threads = {.loops = 1}},
                      works_past_the_end{&begun, &may_return, &refused, is_pooled(kind)});
  client c(srv->port());
  BOOST_REQUIRE(c.receive(7) == "working");
  BOOST_TEST(eventually([&] { return begun.load(); }));
  srv->drain(1ms);
  BOOST_TEST(eventually([&] { return srv->connections().count() == 0; }));
  may_return = true;
  may_return.notify_all();
  srv.join();
  BOOST_TEST(refused == 1);
}

}  // namespace
}  // namespace quintet::test
