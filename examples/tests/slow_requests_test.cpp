// SPDX-License-Identifier: BSL-1.0
// slow_requests_test: message_timeout ends requests that arrive byte by byte, wherever the handler has used earlier
// bytes. Runs in a simulation with simulated time.
// ctest: LIBS quintet::testing
#include "http_hello/session.hpp"
#include "kv/session.hpp"

#include <quintet/net/simulation.hpp>
#include <quintet/threadmodels/config.hpp>
#include <quintet/threadmodels/models.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace bdata = boost::unit_test::data;
using namespace std::chrono_literals;

/// Public defaults, with 2 s for a message plus the time for its bytes at 1 KiB per second.
quintet::connection_limits patient_for_2_s() {
  auto limits = quintet::config::public_defaults().limits;
  limits.message_timeout = 2s;
  limits.max_input = 4U << 20U;
  return limits;
}

/// A simulated server with this handler, and one client.
template <class Handler>
class world_of_one {
 public:
  explicit world_of_one(Handler handler)
      : server_({.listen = {"127.0.0.1:7"},
                 .limits = patient_for_2_s(),
                 .log = [this](const quintet::log_event& e) { reasons_.push_back(e.reason); },
                 .make_engine = [this] { return world_.network().make_engine(); },
                 .time = &world_.time()},
                quintet::single_reactor(), std::move(handler)) {
    server_.start();
    world_.drive(server_.main_loop());
    client_ = world_.network().connect(7);
    world_.run_until_quiet();
  }
  ~world_of_one() {
    world_.network().close(client_);
    server_.stop();
    world_.run_until_quiet();
    server_.finish();
  }
  world_of_one(const world_of_one&) = delete;
  world_of_one& operator=(const world_of_one&) = delete;

  void send(std::string_view data) {
    world_.network().send(client_, data);
    world_.run_until_quiet();
  }
  /// Receives until nothing more is sent.
  std::string receive() {
    std::string all;
    for (std::string some; !(some = world_.network().receive(client_)).empty(); world_.run_until_quiet()) all += some;
    return all;
  }
  [[nodiscard]] bool is_open() const { return reasons_.empty(); }
  [[nodiscard]] bool was_closed_by(quintet::errc limit) const { return reasons_.size() == 1 && reasons_[0] == limit; }
  /// Sends a piece each 1.5 s until the connection is closed. Returns the number of pieces; at most 100.
  int drip(std::string_view piece) {
    int count = 0;
    for (; count < 100 && is_open(); ++count) {
      send(piece);
      world_.advance(1500ms);
    }
    return count;
  }
  void pass(quintet::duration time) { world_.advance(time); }

 private:
  quintet::testing::simulation world_{1};
  std::vector<quintet::error_code> reasons_;
  quintet::server server_;
  int client_ = -1;
};

struct http_world : http_hello::replies, world_of_one<http_hello::session> {
  http_world() : world_of_one(http_hello::session(static_cast<const http_hello::replies&>(*this), {})) {}
};

const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";

struct dripping {
  std::string begins, goes_on;
  friend std::ostream& operator<<(std::ostream& out, const dripping& d) { return out << d.begins << d.goes_on; }
};
const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
const std::vector<dripping> slow_ones{
    {"GET / HTTP/1.1\r\nX: ", "x"},
    {"GET / HTTP/1.1\r\nHost: a\r\n", "X: y\r\n"},
    {post + "Content-Length: 60000\r\n\r\n", "x"},
    {post + "Content-Length: 60000\r\n\r\nhello", "x"},
    {post + "Expect: 100-continue\r\nContent-Length: 60000\r\n\r\n", "x"},
    {chunked + "8000\r\nhello", "x"},
    {chunked + "8000\r\nhello", "hello, hello"},
    {chunked, "5\r\nhello\r\n"},
};

BOOST_DATA_TEST_CASE(a_request_that_drips_is_closed_in_its_header_and_in_its_body, bdata::make(slow_ones), d) {
  http_world http;
  http.send(d.begins);
  BOOST_TEST(http.drip(d.goes_on) == 2);
  BOOST_TEST(http.was_closed_by(quintet::errc::message_timeout));
}

// Each batch begins with the end of a body and ends within the next body, but no single request is slow.
BOOST_AUTO_TEST_CASE(requests_that_overlap_batches_are_no_long_one) {
  http_world http;
  const std::string head = post + "Content-Length: 10\r\n\r\n";
  http.send(head + "hello");
  for (int i = 0; i < 20; ++i) {
    http.pass(1500ms);
    http.send("hello" + head + "hello");
  }
  BOOST_TEST(http.is_open());
}

// The rate counts, not only the time: 60,000 bytes in 30 s are above 1 KiB per second.
BOOST_AUTO_TEST_CASE(a_body_that_comes_steadily_is_answered) {
  http_world http;
  http.send(post + "Content-Length: 60000\r\n\r\n");
  for (int i = 0; i < 60; ++i) {
    http.pass(500ms);
    http.send(std::string(1000, 'x'));
  }
  BOOST_TEST(http.is_open());
  BOOST_TEST(http.receive().starts_with("HTTP/1.1 405 "));
  http.pass(10s);  // the message has ended, and so has its timeout
  BOOST_TEST(http.is_open());
  http.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  BOOST_TEST(http.receive().starts_with("HTTP/1.1 200 "));
}

struct kv_world : kv::store, world_of_one<kv::session> {
  kv_world() : world_of_one(kv::session(static_cast<kv::store&>(*this), {})) {
    set("large", std::string(1U << 20U, 'x'));
  }
};

const std::string echo = "*2\r\n$4\r\nECHO\r\n$1000\r\n";

BOOST_AUTO_TEST_CASE(a_request_of_kv_that_drips_is_closed) {
  kv_world kv;
  kv.send(echo);
  BOOST_TEST(kv.drip("x") == 2);
  BOOST_TEST(kv.was_closed_by(quintet::errc::message_timeout));
}

// The session keeps the request's beginning together with the postponed requests.
BOOST_AUTO_TEST_CASE(a_request_of_kv_that_drips_behind_others_that_were_put_off_is_closed) {
  kv_world kv;
  kv.send("GET large\r\nGET large\r\nGET large\r\n" + echo);
  BOOST_TEST(kv.receive().size() > 3U << 20U);
  BOOST_TEST(kv.drip("x") == 2);
  BOOST_TEST(kv.was_closed_by(quintet::errc::message_timeout));
}

BOOST_AUTO_TEST_CASE(time_passes_for_no_client_whose_requests_are_whole) {
  kv_world kv;
  kv.send("GET large\r\nGET large\r\nGET large\r\nPING\r\n");
  BOOST_TEST(kv.receive().ends_with("+PONG\r\n"));
  kv.pass(10s);
  BOOST_TEST(kv.is_open());
}

}  // namespace
