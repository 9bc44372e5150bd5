// SPDX-License-Identifier: BSL-1.0
// tls_moving_test: connections that speak TLS migrate under load and lose nothing. With QUINTET_LONG=1, 100,000 times.
// ctest: OPTIONAL_LIBS quintet::tls OpenSSL::SSL
#include "../../net/tests/support/long_runs.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "tls/tls_client.hpp"

#include <quintet/net/framed.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::array looping_models{model::loop_per_thread, model::loop_per_thread_pool};

/// Echoes lines. After each of them the connection migrates to the next loop.
struct wandering_handler {
  const std::vector<event_loop*>* loops;
  std::size_t at = 0;
  void operator()(connection& c, bytes line) {
    c.write(std::string(line) + "\n");
    at = (at + 1) % loops->size();
    (void)c.move_to(*(*loops)[at]);  // refused: it is there already
  }
};

/// Lines of many lengths: records that fill a segment, and those that wait in pieces.
std::string lines_of(std::size_t round, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += std::string((round * 131 + i * 977) % 3000, 'x') + '\n';
  return all;
}

BOOST_DATA_TEST_CASE(nothing_is_lost_on_the_way, data::make(looping_models), kind) {
  std::vector<event_loop*> loops;
  running<server> srv(config{.listen = {{"127.0.0.1:0", {.tls = any_tls()}}},
                             .model = kind,
                             .threads = {.loops = 3, .workers = {2, 2}, .offload = {.policy = offload_policy::always}},
                             .engine = engine_kind::epoll},
                      framed(delimiter("\n"), wandering_handler{&loops}));
  loops = srv->loops();
  std::vector<client> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(over_tls(client(srv->port())));
  const std::uint64_t wanted = is_long() ? 50'000 : 500;
  bool right = true;
  for (std::size_t round = 0; right && srv->statistics().moved_here < wanted; ++round) {
    for (client& c : clients) BOOST_TEST_REQUIRE(c.send(lines_of(round, 10)));
    for (client& c : clients) {
      const std::string all = lines_of(round, 10);
      right = right && c.receive(all.size()) == all;
    }
  }
  BOOST_TEST(right);
  BOOST_TEST(srv->statistics().handshakes.done == clients.size());
}

}  // namespace
}  // namespace quintet::test
