// SPDX-License-Identifier: BSL-1.0
// kv_slow_clients_test: clients of kv that request much and read nothing, or late, in each model.
// ctest: TIMEOUT 120 EACH_ENGINE
#include "kv_requests.hpp"
#include "model_names.hpp"
#include "peers.hpp"

#include "kv/session.hpp"

#include <quintet/base/build/sanitizers.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace bdata = boost::unit_test::data;
using example::test::peer;

/// Returns the peak memory of this process, in bytes.
std::size_t peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) * 1024;
  BOOST_FAIL("no VmHWM");
  return 0;
}

/// Runs kv with default limits except for the send timeout, and with a value "large" of 1 MiB.
class running_server {
 public:
  running_server(quintet::model m, std::chrono::seconds send_timeout)
      : server_(config_of(m, send_timeout), kv::session(store_, {})), thread_([this] { server_.run(); }) {
    store_.set("large", std::string(mib, 'x'));
  }
  ~running_server() {
    server_.stop();
    thread_.join();
  }
  [[nodiscard]] peer connect() const { return peer::connected_to(server_.port()); }
  [[nodiscard]] int closed_by_send_timeout() const { return timeouts_; }
  [[nodiscard]] int closed_by_others() const { return others_; }

 private:
  quintet::config config_of(quintet::model m, std::chrono::seconds send_timeout) {
    auto c = quintet::config::public_defaults({"127.0.0.1:0"});
    c.model = m;
    c.limits.max_input = kv::max_input({});
    c.limits.max_output = kv::max_output({}, c.limits.high_watermark);
    c.limits.send_timeout = send_timeout;
    c.log = [this](const quintet::log_event& e) {
      if (e.reason.failed()) ++(e.reason == quintet::errc::send_timeout ? timeouts_ : others_);
    };
    return c;
  }

  std::atomic<int> timeouts_{0}, others_{0};  // before the server, which changes them until its end
  kv::store store_;
  quintet::server server_;
  std::thread thread_;
};

// 8 clients request 25 MiB each with some hundred bytes, and read nothing. Replies share the store's value, and each
// connection counts a watermark and one reply, not 25.
BOOST_DATA_TEST_CASE(who_asks_and_does_not_read_holds_little_and_is_closed, bdata::make(quintet::all_models), m) {
  const running_server kv(m, std::chrono::seconds(1));
  kv.connect().send("PING\r\n");  // allocates the memory for a first connection
  const std::size_t before = peak();
  constexpr int greedy = 8;
  std::vector<peer> clients;
  for (int i = 0; i < greedy; ++i) {
    clients.push_back(kv.connect());
    clients.back().send(times(25, get_large));
  }
  for (const peer& client : clients) client.await_reset();
  const std::size_t grown = peak() - before;
  BOOST_TEST_MESSAGE(m << ": memory grew by " << grown / 1024 << " KiB");
  if constexpr (!quintet::sanitized) BOOST_TEST(grown < 8 * mib);
  BOOST_TEST(kv.closed_by_send_timeout() == greedy);
  BOOST_TEST(kv.closed_by_others() == 0);
  peer other = kv.connect();
  other.send(get_large);
  BOOST_TEST((other.receive(large_reply.size()) == large_reply));
}

// Postponed requests are carried out, even if the client has already sent everything, or has half-closed.
BOOST_DATA_TEST_CASE(who_reads_late_gets_every_reply, bdata::make(quintet::all_models) * bdata::make({false, true}), m,
                     half_closes) {
  const running_server kv(m, std::chrono::seconds(60));
  peer client = kv.connect();
  const std::string requests = "SET n 0\r\n" + times(25, get_large + "INCR n\r\n") + times(5000, "PING\r\n");
  client.send(requests + "ECHO la");  // the last request arrives in two parts
  for (int i = 0; i < 25; ++i) {
    if (i == 0) BOOST_TEST(client.receive(5) == "+OK\r\n");
    BOOST_TEST_REQUIRE((client.receive(large_reply.size()) == large_reply));
    const std::string number = ":" + std::to_string(i + 1) + "\r\n";
    BOOST_TEST(client.receive(number.size()) == number);
  }
  BOOST_TEST((client.receive(5000 * 7) == times(5000, "+PONG\r\n")));
  client.send("st\r\n" + times(25, get_large));
  if (half_closes) client.finish_sending();
  BOOST_TEST(client.receive(10) == "$4\r\nlast\r\n");
  BOOST_TEST((client.receive(25 * large_reply.size()) == times(25, large_reply)));
  if (!half_closes) client.send("QUIT\r\n");
  BOOST_TEST(client.receive_rest() == (half_closes ? "" : "+OK\r\n"));
}

}  // namespace
