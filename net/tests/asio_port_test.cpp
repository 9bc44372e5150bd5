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

struct notes {
  std::size_t received = 0, written = 0;
  std::vector<error_code> ends;
};

/// Reads for as long as the connection lives, and does what else a test wants.
class reader : public std::enable_shared_from_this<reader> {
 public:
  reader(asio_stream s, notes& to) : stream_(std::move(s)), to_(to) {}
  void read() {
    stream_.async_read_some(asio::buffer(data_), [self = shared_from_this()](error_code why, std::size_t count) {
      self->to_.received += count;
      if (!why || why == asio::error::operation_aborted) return self->read();
      self->to_.ends.push_back(why);
      self->stream_.loop().cancel(self->tick_);
    });
  }
  /// Cancels the read again and again, as one that waits for a timer as well does.
  void tick(duration period) {
    tick_ = stream_.loop().every(period, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->stream_.cancel();
    });
  }
  void write(std::size_t size) {
    large_.assign(size, 'w');
    asio::async_write(stream_, asio::buffer(large_), [self = shared_from_this()](error_code why, std::size_t count) {
      self->to_.written += count;
      if (why) self->to_.ends.push_back(why);
    });
  }

 private:
  asio_stream stream_;
  notes& to_;
  timer_id tick_;
  std::array<char, 1000> data_{};
  std::string large_;
};

struct ticking {
  notes* to;
  void operator()(asio_stream s) const {
    const auto r = std::make_shared<reader>(std::move(s), *to);
    r->read();
    r->tick(1s);
  }
};

BOOST_DATA_TEST_CASE(a_timer_of_the_handler_is_no_activity, bdata::make(shapes), s) {
  notes seen;
  world<ticking> w(1, s, ticking{&seen}, {.idle_timeout = 10s});
  const int client = w.connect();
  for (int i = 0; i < 30; ++i) {
    w.sim.advance(1s);
    if (i % 6 == 0) w.send(client, "x");
  }
  BOOST_TEST(w.statistics().closed == 0U);
  BOOST_TEST(seen.received == 5U);
  for (int i = 0; i < 11; ++i) w.sim.advance(1s);
  BOOST_TEST(w.statistics().closed == 1U);
  BOOST_TEST((seen.ends == std::vector<error_code>{errc::idle_timeout}));
}

struct both_ways {
  notes* to;
  std::size_t size;
  void operator()(asio_stream s) const {
    const auto r = std::make_shared<reader>(std::move(s), *to);
    r->read();
    r->write(size);
  }
};

// A peer that sends all before it reads.
BOOST_DATA_TEST_CASE(a_read_goes_on_while_a_write_waits, bdata::make(shapes), s) {
  constexpr std::size_t size = 300'000;
  notes seen;
  world<both_ways> w(1, s, both_ways{&seen, size}, {.high_watermark = 16'000, .low_watermark = 4'000});
  const int client = w.connect();
  for (int i = 0; i < 300; ++i) w.send(client, std::string(1000, 's'));
  BOOST_TEST(seen.received == size);
  BOOST_TEST(seen.written == 0U);
  std::size_t got = 0;
  while (got < size) {
    const std::size_t more = w.received(client).size();
    if (more == 0) break;
    got += more;
  }
  BOOST_TEST(got == size);
  BOOST_TEST(seen.written == size);
  w.send(client, "end");
  BOOST_TEST(seen.received == size + 3);
  w.sim.network().shutdown_send(client);
  w.sim.run_until_quiet();
  BOOST_REQUIRE(seen.ends.size() == 1U);
  BOOST_TEST(seen.ends[0] == error_code(asio::error::eof));
}

// The write has ended, and its output still waits.
BOOST_DATA_TEST_CASE(a_read_goes_on_while_output_waits, bdata::make(shapes), s) {
  notes seen;
  world<both_ways> w(1, s, both_ways{&seen, 60'000}, {.high_watermark = 16'000, .low_watermark = 4'000});
  const int client = w.connect();
  BOOST_TEST(seen.written == 60'000U);
  for (int i = 0; i < 300; ++i) w.send(client, std::string(1000, 's'));
  BOOST_TEST(seen.received == 300'000U);
}

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
