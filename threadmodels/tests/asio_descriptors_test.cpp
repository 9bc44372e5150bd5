// SPDX-License-Identifier: BSL-1.0
// asio_descriptors_test: a handler's first I/O object needs the io_context of its loop, and the process has no
// descriptors for one. That connection ends, and the log says why; the others go on, in every model.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "asio_names.hpp"
#include "census.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "free_descriptors.hpp"
#include "journal.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/asio_stream.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

/// Answers each byte with itself; `t` after a while.
asio::awaitable<void> of_asio(asio_stream s) {
  std::array<char, 1> byte{};
  for (;;) {
    co_await s.async_read_some(asio::buffer(byte), use_awaitable);
    if (byte[0] == 't') {
      asio::steady_timer pause(s.get_executor(), 1ms);
      co_await pause.async_wait(use_awaitable);
    }
    co_await asio::async_write(s, asio::buffer(byte), use_awaitable);
  }
}
awaitable<> of_quintet(stream& s) {
  while (const auto byte = co_await s.read_exactly(1)) {
    const std::string answer(*byte);
    if (answer == "t") {
      asio::steady_timer pause(s.get_executor(), 1ms);
      co_await pause.async_wait(asio::deferred);
    }
    s.write(answer);
  }
}

bool answers(client& c, const std::string& byte) { return c.send(byte) && c.receive(1) == byte; }

template <class Handler>
void check(model kind, std::size_t left, Handler handler) {
  journal log;
  config with = of(kind);
  with.log = log.hook();
  running<server> srv(with, handler);
  client steady(srv->port()), poor(srv->port()), next(srv->port());
  // Where connections share a loop, the first I/O object would make the io_context for all.
  const std::string works = kind == model::thread_per_connection ? "t" : "e";
  BOOST_REQUIRE(answers(steady, works));
  BOOST_REQUIRE(answers(poor, "e"));
  BOOST_REQUIRE(answers(next, "e"));
  {
    const free_descriptors none(left);
    poor.send("t");
    BOOST_TEST(poor.receive_rest().empty());
    BOOST_TEST(eventually([&] { return srv->statistics().handler_errors == 1; }));
    BOOST_TEST(answers(steady, works));
  }
  BOOST_TEST(answers(next, "t"));
  BOOST_TEST(answers(steady, "t"));
  client later(srv->port());
  BOOST_TEST(answers(later, "t"));
  BOOST_TEST(srv->statistics().closed_handler_threw == 1U);
  BOOST_TEST(log.has("warning: 127.0.0.1:",
                     "a handler threw an exception: cannot create the io_context of an event loop, which takes 3 "
                     "descriptors: Too many open files"));
}

/// The second run opens nothing that the process opens only once.
template <class Handler>
void check_twice(model kind, std::size_t left, Handler handler) {
  check(kind, left, handler);
  const std::size_t descriptors = descriptors_of("");
  check(kind, left, handler);
  BOOST_TEST(descriptors_of("") == descriptors);
}

// With one descriptor, Asio gets its eventfd, and no epoll set.
BOOST_DATA_TEST_CASE(of_an_asio_stream, data::make(all_models) * data::make({0U, 1U}), kind, left) {
  check_twice(kind, left, &of_asio);
}
BOOST_DATA_TEST_CASE(of_a_stream, data::make(all_models) * data::make({0U, 1U}), kind, left) {
  check_twice(kind, left, &of_quintet);
}

}  // namespace
}  // namespace quintet::test
