// SPDX-License-Identifier: BSL-1.0
// idle_memory_test: the user-space memory of an idle connection that has exchanged one message. Skipped under
// sanitizers.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/counted_new.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::size_t some = 100, more = 400;  // some: connections whose one-time allocations are not counted

// Returns the limit for a connection, by engine and flavour. It adds what the engine keeps for each connection, the
// coroutine's frames, and the guard of a guarded build.
std::size_t bound(std::string_view engine, bool coroutine) {
  const std::size_t watched = engine == "asio" ? 800 : engine == "uring" ? 192 : 0;
  const std::size_t guard = detail::affinity_guard::enabled ? 16 : 0;
  return 256 + watched + guard + (coroutine ? 512 : 0);
}

void echo(connection& c, bytes in) { c.write(in); }
awaitable<> echo_coroutine(stream& s) {
  while (const auto in = co_await s.read()) s.write(*in);
}

void join(std::vector<client>& clients, std::size_t count, std::uint16_t port) {
  std::string reply(1000, '\0');
  const std::string request(reply.size(), 'x');
  for (std::size_t i = 0; i < count; ++i) {
    clients.emplace_back(port);
    BOOST_REQUIRE(clients.back().send(request));
    BOOST_REQUIRE(clients.back().receive_into(reply));
  }
}

template <class Handler>
void check(model kind, Handler handler, bool coroutine) {
  running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}}, handler);
  std::vector<client> clients;
  clients.reserve(some + more);
  join(clients, some, srv->port());
  const std::size_t before = heap_bytes;
  join(clients, more, srv->port());
  const std::size_t each = (heap_bytes - before) / more;
  BOOST_TEST_MESSAGE(kind << ": " << each << " bytes");
  BOOST_TEST(each <= bound(srv->main_loop().io().capabilities().name, coroutine));
}

// Model 1 is left out: it keeps a thread and a loop for each connection.
constexpr model of_many[] = {model::single_reactor, model::reactor_pool, model::loop_per_thread,
                             model::loop_per_thread_pool};

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(an_idle_connection_is_small, data::make(of_many), kind) { check(kind, &echo, false); }

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(and_so_is_an_idle_coroutine, data::make(of_many), kind) { check(kind, &echo_coroutine, true); }

}  // namespace
}  // namespace quintet::test
