// SPDX-License-Identifier: BSL-1.0
// asio_wait_test: Asio's callbacks and coroutines wait for events and sleeps of loops, and read messages of codecs.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "asio_names.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/base/framing/checked.hpp>
#include <quintet/base/framing/chunked.hpp>
#include <quintet/base/framing/delimiter.hpp>
#include <quintet/base/framing/length_prefix.hpp>
#include <quintet/net/asio.hpp>
#include <quintet/net/asio_stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

asio::awaitable<void> say(asio_stream& s, std::string text) {
  text += '\n';
  co_await asio::async_write(s, asio::buffer(text), use_awaitable);
}

void check_no_errors(running<server>& srv) {
  srv.stop();
  srv.join();
  BOOST_TEST(srv->statistics().handler_errors == 0u);
}

// ---- Events and sleeps ----------------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(coroutines_wait_for_an_event_and_sleep, data::make(all_models), kind) {
  event committed;
  running<server> srv(of(kind), [&committed](asio_stream s) -> asio::awaitable<void> {
    co_await say(s, "waiting");
    co_await async_wait(s.get_executor(), committed, use_awaitable);
    co_await async_wait(s.get_executor(), committed, use_awaitable);  // it stays set
    co_await async_wait(s.get_executor(), sleep_for(1ms), use_awaitable);
    co_await async_wait(s.get_executor(), sleep_until(s.loop().now() - 1h), use_awaitable);
    std::string where = s.loop().in_this_thread() ? "on the loop" : "elsewhere";
    co_await say(s, std::move(where));
  });
  std::vector<client> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(srv->port());
  for (client& c : clients) BOOST_TEST(c.receive_line() == "waiting");
  committed.set();
  for (client& c : clients) BOOST_TEST(c.receive_line() == "on the loop");
  check_no_errors(srv);
}

/// The handler ends at once; callbacks have the stream. `begin` starts a wait that tells() when it has completed.
template <class Begin>
void ask_callbacks(model kind, Begin begin, const std::string& expected) {
  running<server> srv(of(kind), [begin](asio_stream s) {
    const auto shared = std::make_shared<asio_stream>(std::move(s));
    const auto text = std::make_shared<std::string>();
    const auto is_beginning = std::make_shared<bool>(true);
    begin(*shared, [=](error_code why) {
      *text = *is_beginning ? "within " : "";
      *text += why == asio::error::operation_aborted ? "aborted\n" : why ? why.message() : "done\n";
      asio::async_write(*shared, asio::buffer(*text), [shared, text](error_code, std::size_t) {});
    });
    *is_beginning = false;
  });
  client c(srv->port());
  BOOST_TEST(c.receive_rest() == expected + "\n");
  check_no_errors(srv);
}

BOOST_DATA_TEST_CASE(a_callback_never_runs_within_the_call, data::make(all_models), kind) {
  event set;
  set.set();
  const auto to_event = [&set](asio_stream& s, auto done) { async_wait(s.get_executor(), set, done); };
  ask_callbacks(kind, to_event, "done");
  const auto to_sleep = [](asio_stream& s, auto done) { async_wait(s.get_executor(), sleep_for({}), done); };
  ask_callbacks(kind, to_sleep, "done");
}

BOOST_DATA_TEST_CASE(a_cancellation_slot_ends_a_wait, data::make(all_models), kind) {
  event never;
  const auto cancelled = [](auto what) {
    return [what](asio_stream& s, auto done) {
      const auto signal = std::make_shared<asio::cancellation_signal>();
      what(s, asio::bind_cancellation_slot(signal->slot(), [signal, done](error_code why) { done(why); }));
      signal->emit(asio::cancellation_type::total);
      signal->emit(asio::cancellation_type::total);
    };
  };
  const auto on_event = [&never](asio_stream& s, auto done) { async_wait(s.get_executor(), never, std::move(done)); };
  ask_callbacks(kind, cancelled(on_event), "aborted");
  const auto on_sleep = [](asio_stream& s, auto done) {
    async_wait(s.get_executor(), sleep_for(24h), std::move(done));
  };
  ask_callbacks(kind, cancelled(on_sleep), "aborted");
}

BOOST_DATA_TEST_CASE(the_first_of_two_cancels_the_other, data::make(all_models), kind) {
  event never;
  running<server> srv(of(kind), [&never](asio_stream s) -> asio::awaitable<void> {
    using namespace asio::experimental::awaitable_operators;
    const auto first = co_await (async_wait(s.get_executor(), never, use_awaitable) ||
                                 async_wait(s.get_executor(), sleep_for(1ms), use_awaitable));
    co_await say(s, std::to_string(first.index()));
  });
  client c(srv->port());
  BOOST_TEST(c.receive_line() == "1");
  check_no_errors(srv);
}

// Coroutines of handlers, callbacks that nobody cancels, and those whose slot is not used.
BOOST_DATA_TEST_CASE(the_end_of_the_loop_ends_waits, data::make(all_models), kind) {
  event never;
  std::atomic<int> begun{0}, aborted{0};
  {
    running<server> srv(of(kind), [&](asio_stream s) -> asio::awaitable<void> {
      const auto held = std::make_shared<asio_stream>(std::move(s));
      const auto count = [&aborted, held](error_code why) { aborted += why == asio::error::operation_aborted; };
      async_wait(held->get_executor(), never, count);
      async_wait(held->get_executor(), sleep_for(24h), count);
      ++begun;
      const auto [why] = co_await async_wait(held->get_executor(), never, as_result);
      count(why);
    });
    std::vector<client> clients;
    for (int i = 0; i < 3; ++i) clients.emplace_back(srv->port());
    BOOST_REQUIRE(eventually([&] { return begun == 3; }));
    check_no_errors(srv);
  }
  BOOST_TEST(aborted == 9);
}

BOOST_AUTO_TEST_CASE(a_wait_that_begins_after_the_loop_has_ended_is_aborted_or_dropped) {
  event set;
  set.set();
  int aborted = 0;
  const auto token = std::make_shared<int>();
  {
    event_loop loop;
    loop.stop();
    loop.run();
    const auto count = [&aborted, token](error_code why) { aborted += why == asio::error::operation_aborted; };
    async_wait(loop.get_executor(), set, count);
    loop.run_left_over();
    BOOST_TEST(aborted == 1);
    async_wait(loop.get_executor(), sleep_for(1ms), count);
  }
  BOOST_TEST(aborted == 1);
  BOOST_TEST(token.use_count() == 1);
}

// ---- Other executors ------------------------------------------------------------------------------------------------

// The program's own coroutine in its own thread waits on a server's loop. Its io_context has work meanwhile.
BOOST_DATA_TEST_CASE(a_coroutine_of_the_program_waits_on_a_servers_loop, data::make(all_models), kind) {
  event asked;
  running<server> srv(of(kind), [&asked](asio_stream s) -> asio::awaitable<void> {
    std::array<char, 16> data;
    (void)co_await s.async_read_some(asio::buffer(data), use_awaitable);
    asked.set();
    (void)co_await s.async_read_some(asio::buffer(data), as_result);
  });
  asio::io_context context(1);
  std::optional<error_code> result;
  const std::thread::id here = std::this_thread::get_id();
  bool is_here = false;
  const auto wait = [&]() -> asio::awaitable<void> {
    const auto [why] = co_await async_wait(srv->main_loop().get_executor(), asked, as_result);
    result = why;
    is_here = std::this_thread::get_id() == here;
  };
  asio::co_spawn(context, wait(), asio::detached);
  client c(srv->port());
  c.send("x");
  context.run();
  BOOST_TEST((result == error_code()));
  BOOST_TEST(is_here);
}

// A pool's coroutines are cancelled in the same moment as the event is set.
BOOST_AUTO_TEST_CASE(cancellations_from_other_threads_meet_events) {
  running<server> srv(of(model::single_reactor), [](connection&, bytes) {});
  asio::thread_pool pool(2);
  std::atomic<int> ended{0};
  constexpr int rounds = 300;
  const auto round = [&]() -> asio::awaitable<void> {
    using namespace asio::experimental::awaitable_operators;
    const loop_executor on = srv->main_loop().get_executor();
    event once;
    const auto set = [&once]() -> asio::awaitable<void> {
      once.set();
      co_return;
    };
    (void)co_await (async_wait(on, once, use_awaitable) && set());
    (void)co_await (async_wait(on, sleep_for(1us), use_awaitable) || async_wait(on, sleep_for(2us), use_awaitable));
    ++ended;
  };
  for (int i = 0; i < rounds; ++i) asio::co_spawn(asio::make_strand(pool), round(), asio::detached);
  pool.join();
  BOOST_TEST(ended == rounds);
}

BOOST_AUTO_TEST_CASE(any_completion_token_will_do) {
  running<server> srv(of(model::single_reactor), [](connection&, bytes) {});
  event never;
  const loop_executor on = srv->main_loop().get_executor();
  std::future<void> slept = async_wait(on, sleep_for(1ms), asio::use_future);
  BOOST_CHECK_NO_THROW(slept.get());
  std::future<void> stopped = async_wait(on, never, asio::use_future);
  srv.stop();
  BOOST_CHECK_THROW(stopped.get(), boost::system::system_error);
}

// ---- Messages -------------------------------------------------------------------------------------------------------

// The messages that a reader gives, and the error that ends it.
asio::awaitable<void> tell_messages(asio_stream& s, auto& in) {
  for (;;) {
    const auto [why, message] = co_await in.async_read(s, as_result);
    std::string text = std::to_string(message.size()) + " " + std::string(message.substr(0, 5));
    if (why) text = why == asio::error::eof ? "eof" : why.message();
    co_await say(s, std::move(text));
    if (why) co_return;
  }
}

BOOST_DATA_TEST_CASE(messages_are_read_however_they_arrive, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    message_reader in(delimiter("\n", 100'000));
    co_await tell_messages(s, in);
  });
  client c(srv->port());
  c.send("one\ntwo\nthr");
  BOOST_TEST(c.receive_line() == "3 one");
  BOOST_TEST(c.receive_line() == "3 two");
  c.send("ee\n\n" + std::string(99'999, 'l') + "\n");
  BOOST_TEST(c.receive_line() == "5 three");
  BOOST_TEST(c.receive_line() == "0 ");
  BOOST_TEST(c.receive_line() == "99999 lllll");
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "m\n";
  c.send(many);
  for (int i = 0; i < 10'000; ++i) BOOST_REQUIRE(c.receive_line() == "1 m");
  c.finish_sending();
  BOOST_TEST(c.receive_rest() == "eof\n");
  check_no_errors(srv);
}

BOOST_DATA_TEST_CASE(a_codec_refuses_and_a_stream_ends_within_a_message, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    message_reader in(checked(length_prefix<4>(1000)));
    co_await tell_messages(s, in);
  });
  client refused(srv->port());
  refused.send(std::string("\xff\xff\xff\xff", 4));
  BOOST_TEST(refused.receive_rest() == error_code(errc::message_too_big).message() + "\n");
  client cut(srv->port());
  cut.send(std::string("\0\0\0\x08", 4));
  cut.finish_sending();
  BOOST_TEST(cut.receive_rest() == error_code(errc::incomplete_message).message() + "\n");
  check_no_errors(srv);
}

// Not an error of the handler: so the stream ends. A codec's error is one.
BOOST_DATA_TEST_CASE(the_exception_of_a_cut_message_tells_of_the_end, data::make(all_models), kind) {
  running<server> srv(of(kind), [](asio_stream s) -> asio::awaitable<void> {
    message_reader in(length_prefix<1>(100));
    for (;;) {
      const bytes message = co_await in.async_read(s, use_awaitable);
      std::string text(message);
      co_await say(s, std::move(text));
    }
  });
  client cut(srv->port());
  cut.send("\3abc\3a");
  BOOST_TEST(cut.receive_line() == "abc");
  cut.finish_sending();
  BOOST_TEST(cut.receive_rest().empty());
  check_no_errors(srv);
}

// A long message in pieces on Asio's own socket, and a read that a timer ends.
BOOST_AUTO_TEST_CASE(messages_come_from_any_stream_of_asio) {
  asio::io_context context(1);
  asio::ip::tcp::acceptor listening(context, {asio::ip::address_v4::loopback(), 0});
  std::vector<std::size_t> sizes;
  error_code cancelled;
  const auto receive = [&]() -> asio::awaitable<void> {
    asio::ip::tcp::socket s = co_await listening.async_accept(use_awaitable);
    message_reader in(chunked(length_prefix<4>(1 << 20), {.receive = true, .max_message = 8 << 20}));
    asio::cancellation_signal signal;
    asio::steady_timer has_ended(context, 24h);
    in.async_read(s, asio::bind_cancellation_slot(signal.slot(), [&](error_code why, bytes) {
                    cancelled = why;
                    has_ended.cancel();
                  }));
    signal.emit(asio::cancellation_type::total);
    (void)co_await has_ended.async_wait(as_result);
    for (;;) {
      const auto [why, message] = co_await in.async_read(s, as_result);
      if (why) co_return;
      sizes.push_back(message.size());
    }
  };
  const auto send = [&]() -> asio::awaitable<void> {
    asio::ip::tcp::socket s(context);
    co_await s.async_connect(listening.local_endpoint(), use_awaitable);
    const std::string first("\0\x10\0\0\1", 5), last("\0\0\0\x02\0z", 6);
    for (int i = 0; i < 2; ++i) {
      std::string whole = first;
      whole.append((1 << 20) - 1, 'p').append(last);
      co_await asio::async_write(s, asio::buffer(whole), use_awaitable);
    }
  };
  asio::co_spawn(context, receive(), asio::detached);
  asio::co_spawn(context, send(), asio::detached);
  context.run();
  BOOST_TEST((cancelled == asio::error::operation_aborted));
  BOOST_TEST(sizes == (std::vector<std::size_t>(2, 1 << 20)), boost::test_tools::per_element());
}

}  // namespace
}  // namespace quintet::test
