// SPDX-License-Identifier: BSL-1.0
// asio_port_test: handlers on Asio's streams where the test sets the clock and the peer's window: idleness, both
// directions at once, and an end without memory.
#include "world.hpp"

#include <quintet/net/asio_stream.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/data/test_case.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace quintet::testing {
namespace {

namespace asio = boost::asio;
namespace bdata = boost::unit_test::data;
using namespace std::chrono_literals;

std::function<void()> resume;  // what a handler waits for
int cancels = 0;

/// Waits for resume(). Cannot be cancelled: throws an `Exception` each time.
template <class Exception>
struct waiting {
  asio::awaitable<void> operator()(asio_stream) const {
    const auto keep = [](auto handler) {
      asio::get_associated_cancellation_slot(handler).assign([](asio::cancellation_type) {
        ++cancels;
        throw Exception();
      });
      resume = [h = std::make_shared<decltype(handler)>(std::move(handler))] { std::move (*h)(); };
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(keep, asio::use_awaitable);
  }
};

/// Returns how many exceptions have counted.
template <class Exception>
std::uint64_t end_what_cannot_be_cancelled() {
  world<waiting<Exception>> w(1, shapes[0], waiting<Exception>());
  (void)w.connect();
  BOOST_REQUIRE(resume);
  cancels = 0;
  BOOST_TEST(!w.server->connections().abort(w.server->connections().all().at(0)));
  w.sim.run_until_quiet();
  BOOST_TEST(w.statistics().closed == 0U);
  w.server->main_loop().post([] { std::exchange(resume, {})(); });
  w.sim.run_until_quiet();
  BOOST_TEST(w.statistics().closed == 1U);
  return w.statistics().handler_errors;
}

BOOST_AUTO_TEST_CASE(an_end_without_memory_does_not_try_for_ever) {
  BOOST_TEST(end_what_cannot_be_cancelled<std::bad_alloc>() == 0U);
  BOOST_TEST(cancels > 1);
  BOOST_TEST(cancels < 1000);
}

struct broken : std::exception {};

BOOST_AUTO_TEST_CASE(a_cancellation_handler_that_throws_is_called_once) {
  BOOST_TEST(end_what_cannot_be_cancelled<broken>() == 1U);
  BOOST_TEST(cancels == 1);
}

}  // namespace
}  // namespace quintet::testing
