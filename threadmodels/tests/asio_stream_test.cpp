// SPDX-License-Identifier: BSL-1.0
// asio_stream_test: handlers on Asio's streams, in every model: reads, writes, composed operations, cancellation.
// them.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "asio_names.hpp"
#include "client.hpp"
#include "combination.hpp"
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

static_assert(boost::beast::is_async_stream<asio_stream>::value);
static_assert(asio::execution::is_executor<loop_executor>::value);
static_assert(std::is_convertible_v<loop_executor, asio::any_io_executor>);
static_assert(asio_handler<asio::awaitable<void> (*)(asio_stream)>);
static_assert(asio_handler<void (*)(asio_stream)>);
static_assert(!asio_handler<int (*)(asio_stream)>);
static_assert(sizeof(detail::asio_session<asio::awaitable<void> (*)(asio_stream)>) <= 800);

std::string round_trip(client& c, const std::string& text) {
  c.send(text);
  return c.receive(text.size());
}

asio::awaitable<void> echo(asio_stream s) {
  std::array<char, 10'000> data;
  for (;;) {
    const std::size_t count = co_await s.async_read_some(asio::buffer(data), use_awaitable);
    co_await asio::async_write(s, asio::buffer(data, count), use_awaitable);
  }
}

/// The same with callbacks: the handler ends at once, and this object has the stream.
class callback_echo : public std::enable_shared_from_this<callback_echo> {
 public:
  explicit callback_echo(asio_stream s) : stream_(std::move(s)) {}
  void read() {
    stream_.async_read_some(asio::buffer(data_), [self = shared_from_this()](error_code why, std::size_t count) {
      if (!why) self->write(count);
    });
  }

 private:
  void write(std::size_t count) {
    asio::async_write(stream_, asio::buffer(data_, count), [self = shared_from_this()](error_code why, std::size_t) {
      if (!why) self->read();
    });
  }
  asio_stream stream_;
  std::array<char, 10'000> data_{};
};
void start_callbacks(asio_stream s) { std::make_shared<callback_echo>(std::move(s))->read(); }

template <class Handler>
void check_echo(model kind, Handler handler) {
  running<server> srv(of(kind), handler);
  std::vector<client> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(srv->port());
  for (int i = 0; i < 50; ++i)
    for (client& c : clients) BOOST_REQUIRE(round_trip(c, "echo " + std::to_string(i)) == "echo " + std::to_string(i));
  const std::string large(3'000'000, 'z');
  std::thread sender([&] { clients[0].send(large); });
  BOOST_TEST((clients[0].receive(large.size()) == large));
  sender.join();
  for (client& c : clients) c.finish_sending();
  for (client& c : clients) {
    BOOST_TEST(c.receive_rest().empty());
    BOOST_TEST((c.ended() == ending::orderly));
  }
  srv.stop();
  srv.join();
  BOOST_TEST(srv->statistics().closed == 4u);
  BOOST_TEST(srv->statistics().handler_errors == 0u);
}

BOOST_DATA_TEST_CASE(a_coroutine_echoes, data::make(all_models), kind) { check_echo(kind, &echo); }
BOOST_DATA_TEST_CASE(callbacks_echo, data::make(all_models), kind) { check_echo(kind, &start_callbacks); }

BOOST_DATA_TEST_CASE(lines_are_read_by_a_composed_operation, data::make(all_models), kind) {
  const auto lines = [](asio_stream s) -> asio::awaitable<void> {
    std::string buffer;
    for (;;) {
      const std::size_t size = co_await asio::async_read_until(s, asio::dynamic_buffer(buffer), '\n', use_awaitable);
      std::string reply(buffer.substr(0, size - 1));
      buffer.erase(0, size);
      std::reverse(reply.begin(), reply.end());
      reply += '\n';
      co_await asio::async_write(s, asio::buffer(reply), use_awaitable);
    }
  };
  running<server> srv(of(kind), lines);
  client c(srv->port());
  c.send("abc\nde");
  BOOST_TEST(c.receive_line() == "cba");
  c.send("f\n\nxy\n");
  BOOST_TEST(c.receive_line() == "fed");
  BOOST_TEST(c.receive_line() == "");
  BOOST_TEST(c.receive_line() == "yx");
}

// ---- Operations -----------------------------------------------------------------------------------------------------

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

BOOST_DATA_TEST_CASE(nothing_completes_within_the_function_that_begins_it, data::make(all_models), kind) {
  const auto check = [](asio_stream& s) -> asio::awaitable<std::string> {
    asio::steady_timer woken(s.get_executor(), 24h);
    std::string seen, empty;
    bool initiating = true;
    asio::async_write(s, asio::buffer("", 0),
                      [&](error_code, std::size_t) { seen += initiating ? "within " : "after "; });
    s.async_read_some(asio::buffer(empty.data(), 0), [&](error_code, std::size_t) {
      seen += initiating ? "within" : "after";
      woken.cancel();
    });
    initiating = false;
    (void)co_await woken.async_wait(as_result);
    co_return seen;
  };
  ask_once(kind, check, "after after");
}

BOOST_DATA_TEST_CASE(a_second_read_fails_and_the_first_goes_on, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    std::array<char, 16> first, second;
    std::string refused;
    asio::steady_timer woken(s.get_executor(), 24h);
    std::size_t got = 0;
    s.async_read_some(asio::buffer(first), [&](error_code, std::size_t count) {
      got = count;
      woken.cancel();
    });
    const auto [why, count] = co_await s.async_read_some(asio::buffer(second), as_result);
    refused = why == asio::error::already_started ? "refused" : why.message();
    co_await asio::async_write(s, asio::buffer(refused), use_awaitable);
    (void)co_await woken.async_wait(as_result);
    co_await asio::async_write(s, asio::buffer(first, got), use_awaitable);
  });
  client c(srv->port());
  BOOST_TEST(c.receive(7) == "refused");
  c.send("first");
  BOOST_TEST(c.receive_rest() == "first");
}

// The read that `||` cancels loses no input.
BOOST_DATA_TEST_CASE(a_read_is_cancelled_by_a_timer, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    using namespace asio::experimental::awaitable_operators;
    std::array<char, 16> data;
    asio::steady_timer limit(s.get_executor(), 1ms);
    const auto first =
        co_await (s.async_read_some(asio::buffer(data), use_awaitable) || limit.async_wait(use_awaitable));
    const std::string text = first.index() == 1 ? "late" : "read";
    co_await asio::async_write(s, asio::buffer(text), use_awaitable);
    const std::size_t count = co_await s.async_read_some(asio::buffer(data), use_awaitable);
    co_await asio::async_write(s, asio::buffer(data, count), use_awaitable);
  });
  client c(srv->port());
  BOOST_TEST(c.receive(4) == "late");
  c.send("data");
  BOOST_TEST(c.receive_rest() == "data");
  srv.stop();
  srv.join();
  BOOST_TEST(srv->statistics().handler_errors == 0u);
}

// One read waits for as long as the connection lives, and another coroutine writes.
BOOST_DATA_TEST_CASE(a_write_does_not_wait_for_the_read_in_progress, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    const auto ticks = [](asio_stream& to) -> asio::awaitable<void> {
      asio::steady_timer pause(to.get_executor());
      for (int i = 0; i < 20; ++i) {
        pause.expires_after(1ms);
        co_await pause.async_wait(use_awaitable);
        co_await asio::async_write(to, asio::buffer("tick", 4), use_awaitable);
      }
    };
    using namespace asio::experimental::awaitable_operators;
    std::array<char, 16> data;
    (void)co_await (s.async_read_some(asio::buffer(data), use_awaitable) && ticks(s));
  });
  client c(srv->port());
  for (int i = 0; i < 20; ++i) BOOST_REQUIRE(c.receive(4) == "tick");
  c.send("end");
  BOOST_TEST(c.receive_rest().empty());
}

// `max_output` would close a connection for which more than that waits.
BOOST_DATA_TEST_CASE(a_slow_reader_holds_its_writer, data::make(all_models), kind) {
  constexpr std::size_t all = 24 * 1024 * 1024;
  config with = of(kind);
  with.limits.low_watermark = 16 * 1024;
  with.limits.high_watermark = 64 * 1024;
  with.limits.max_output = 160 * 1024;
  running<server> srv(with, [](asio_stream s) -> asio::awaitable<void> {
    const std::string block(200'000, 'b');
    for (std::size_t sent = 0; sent < all;) sent += co_await s.async_write_some(asio::buffer(block), use_awaitable);
  });
  client c(srv->port(), {.receive_buffer = 4096});
  std::size_t got = 0;
  while (got < all) {
    const std::string more = c.receive_some();
    if (more.empty()) break;
    got += more.size();
  }
  got += c.receive_rest().size();
  BOOST_TEST(got >= all);
  BOOST_TEST((c.ended() == ending::orderly));
}

// A tail that the kernel has not taken leaves while the handler awaits something else than the stream.
BOOST_DATA_TEST_CASE(output_leaves_while_the_handler_waits, data::make(all_models), kind) {
  constexpr std::size_t size = 8 * 1024 * 1024;
  config with = of(kind);
  with.limits.max_output = with.limits.high_watermark = 4 * size;
  with.limits.low_watermark = size;
  running<server> srv(with, [](asio_stream s) -> asio::awaitable<void> {
    const std::string block(size, 'b');
    co_await asio::async_write(s, asio::buffer(block), use_awaitable);
    asio::steady_timer for_ever(s.get_executor(), 24h);
    co_await for_ever.async_wait(use_awaitable);
  });
  client c(srv->port());
  BOOST_TEST(c.receive(size).size() == size);
}

BOOST_DATA_TEST_CASE(a_completion_runs_on_its_own_executor, data::make(all_models), kind) {
  asio::thread_pool other(1);
  running<server> srv(of(kind), [&other](asio_stream s) -> asio::awaitable<void> {
    std::array<char, 16> data;
    asio::steady_timer woken(s.get_executor(), 24h);
    std::atomic<bool> elsewhere{false};
    s.async_read_some(asio::buffer(data), asio::bind_executor(other.get_executor(), [&](error_code, std::size_t) {
                        elsewhere = !s.loop().in_this_thread();
                        asio::post(woken.get_executor(), [&] { woken.cancel(); });
                      }));
    (void)co_await woken.async_wait(as_result);
    auto strand = asio::make_strand(s.get_executor());
    std::string text = elsewhere ? "elsewhere" : "here";
    co_await asio::async_write(s, asio::buffer(text), asio::bind_executor(strand, use_awaitable));
  });
  client c(srv->port());
  c.send("x");
  BOOST_TEST(c.receive_rest() == "elsewhere");
  srv.stop();
  srv.join();
  other.join();
}

}  // namespace
}  // namespace quintet::test
