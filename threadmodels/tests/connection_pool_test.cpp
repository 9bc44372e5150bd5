// SPDX-License-Identifier: BSL-1.0
// connection_pool_test: gateways in every model. Their coroutines share sockets to an upstream server.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "census.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/connection_pool.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

/// The upstream server answers a byte with a byte. 'q' is answered, then closes; 'Q' closes without an answer; to 's'
/// 'g' and 'w' it says nothing.
const auto behind = [](connection& c, bytes in) {
  for (const char byte : in) {
    if (byte == 's' || byte == 'g' || byte == 'w') continue;
    if (byte != 'Q') c.write("r");
    if (byte == 'q' || byte == 'Q') c.close();
  }
};
using back_server = running<server>;

connection_pool_options settings;  // of the running test
std::optional<destination> upstream_at;

struct upstream : connection_pool {
  explicit upstream(event_loop& loop) : connection_pool(loop, *upstream_at, settings) {}
};

/// Forwards a byte to the upstream, and returns its answer, or an 'x'. It does not wait long for the answer to an 's',
/// nor for the socket of a 'g'. "#" is answered with the pool's counts.
awaitable<char> forward(stream& s, char byte) {
  const auto soon_if = [&](bool is) { return is ? s.loop().now() + std::chrono::milliseconds(5) : time_point::max(); };
  try {
    const auto all = s.with_deadline(soon_if(byte == 'g'));
    auto c = co_await s.loop().use<upstream>().get();
    const auto answered = s.with_deadline(soon_if(byte == 's'));
    co_await boost::asio::async_write(c.socket(), boost::asio::buffer(&byte, 1), boost::asio::deferred);
    co_await boost::asio::async_read(c.socket(), boost::asio::buffer(&byte, 1), boost::asio::deferred);
    co_return byte;
  } catch (const boost::system::system_error&) {
    co_return 'x';
  }
}
awaitable<> gateway(stream& s) {
  while (const auto in = co_await s.read()) {
    const std::string questions(*in);
    for (const char byte : questions) {
      char answer = static_cast<char>('0' + s.loop().use<upstream>().size());
      if (byte != '#') answer = co_await forward(s, byte);
      s.write({&answer, 1});
    }
  }
}
using front_server = running<server>;

struct fixture {
  explicit fixture(model kind, connection_pool_options options = {})
      : back(config{.listen = {"127.0.0.1:0"}}, behind), front(begin(kind, options), &gateway) {}
  config begin(model kind, const connection_pool_options& options) {
    settings = options;
    upstream_at = back->addresses()[0];
    return {.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 1, .workers = {1, 2}}};
  }
  std::string ask(client& c, const std::string& questions) {
    std::string answers;
    for (const char q : questions) {
      c.send(std::string(1, q));
      answers += c.receive(1);
    }
    return answers;
  }
  back_server back;
  front_server front;
};

BOOST_DATA_TEST_CASE(one_socket_serves_questions_that_follow_each_other, data::make(all_models), kind) {
  fixture f(kind);
  client c(f.front->port());
  BOOST_TEST(f.ask(c, "aaaa#") == "rrrr1");
  BOOST_TEST(f.back->statistics().accepted == 1U);
}

BOOST_DATA_TEST_CASE(a_socket_that_the_upstream_has_closed_is_not_used_again, data::make(all_models), kind) {
  fixture f(kind);
  client c(f.front->port());
  for (int i = 0; i < 5; ++i) {
    BOOST_TEST(f.ask(c, "aq") == "rr");
    // A request before the end of the stream has arrived here gets an 'x'. Later requests never do.
    BOOST_TEST(eventually(
        [&] { return f.back->statistics().closed == static_cast<unsigned>(i) + 1 || f.ask(c, "a") == "r"; }));
  }
  BOOST_TEST(f.ask(c, "Q") == "x");  // no answer came, so the socket does not return to the pool
  BOOST_TEST(f.ask(c, "#a#") == "0r1");
}

// Concurrent requests share one socket, and each gets its answer.
BOOST_AUTO_TEST_CASE(at_most_max_are_open_and_who_waits_is_served) {
  fixture f(model::single_reactor, {.max = 2});
  std::vector<std::unique_ptr<client>> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(std::make_unique<client>(f.front->port()));
  for (int round = 0; round < 20; ++round) {
    for (auto& c : clients) c->send("a");
    for (auto& c : clients) BOOST_TEST(c->receive(1) == "r");
  }
  BOOST_TEST(f.back->statistics().accepted <= 2U);
}

BOOST_DATA_TEST_CASE(nobody_behind, data::make(all_models), kind) {
  fixture f(kind, {.max = 1});
  f.back.stop();
  f.back.join();
  client c(f.front->port());
  BOOST_TEST(f.ask(c, "aa#") == "xx0");
}

BOOST_DATA_TEST_CASE(a_call_has_a_deadline, data::make(all_models), kind) {
  fixture f(kind, {.max = 1});
  client c(f.front->port()), other(f.front->port());
  BOOST_TEST(f.ask(c, "s#a#") == "x0r1");  // the answer to the silent one could still come, so its socket is closed
  const auto before = f.back->statistics().batches;
  other.send("w");  // borrows the only socket of its loop
  BOOST_TEST(eventually([&] { return f.back->statistics().batches > before; }));
  BOOST_TEST(f.ask(c, "g") == "x");
}

BOOST_AUTO_TEST_CASE(an_idle_socket_is_closed_in_time) {
  fixture f(model::single_reactor, {.idle_timeout = std::chrono::milliseconds(5)});
  client c(f.front->port());
  BOOST_TEST(f.ask(c, "a") == "r");
  BOOST_TEST(eventually([&] { return f.back->statistics().closed == 1; }));
  BOOST_TEST(f.ask(c, "#a") == "0r");
}

BOOST_AUTO_TEST_CASE(the_longest_idle_time_is_never) {
  fixture f(model::single_reactor, {.idle_timeout = duration::max()});
  client c(f.front->port());
  BOOST_TEST(f.ask(c, "aaaaaaaa#") == "rrrrrrrr1");
  BOOST_TEST(f.back->statistics().accepted == 1U);
}

// The gateway stops while coroutines wait in get(), for an answer, or for a connection.
BOOST_DATA_TEST_CASE(stopped_while_coroutines_wait, data::make(all_models), kind) {
  const std::size_t descriptors = descriptors_of("");
  for (int i = 0; i < 20; ++i) {
    fixture f(kind, {.max = 1});
    std::vector<std::unique_ptr<client>> clients;
    for (int n = 0; n < 4; ++n) {
      clients.push_back(std::make_unique<client>(f.front->port()));
      clients.back()->send("a");
    }
    if (i % 2 == 0) BOOST_TEST(clients.front()->receive(1) == "r");
  }
  BOOST_TEST(descriptors_of("") == descriptors);
}

BOOST_AUTO_TEST_CASE(pool_options_that_cannot_be) {
  BOOST_CHECK_THROW(validate(connection_pool_options{.max = 0}), config_error);
  BOOST_CHECK_THROW(validate(connection_pool_options{.connecting = {.upgrade = connection_upgrade::shared_memory}}),
                    config_error);
  BOOST_CHECK_THROW(validate(connection_pool_options{.idle_timeout = std::chrono::seconds(-1)}), config_error);
}

}  // namespace
}  // namespace quintet::test
