// SPDX-License-Identifier: BSL-1.0
// shared_memory_test: the ordinary handlers serve clients over shared memory, beside TCP and Unix sockets.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/engine/shm/client.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};
awaitable<> echo_coroutine(stream& s) {
  while (const auto in = co_await s.read()) s.write(*in);
}

config over_shared_memory(model kind, const std::string& at, std::size_t ring_size = 64 * 1024) {
  return {.listen = {{at, {.upgrade = connection_upgrade::shared_memory, .shared_memory = {.ring_size = ring_size}}},
                     "127.0.0.1:0"},
          .model = kind,
          .threads = {.loops = 2, .workers = {1, 2}}};
}

/// Calls f(server) with a running echo server of the combination.
template <class F>
void with_echo(combination under, const config& c, F f) {
  if (under.is_coroutine()) {
    running<server<awaitable<> (*)(stream&)>> srv(c, &echo_coroutine);
    f(*srv);
  } else {
    running<server<echo>> srv(c, echo());
    f(*srv);
  }
}

std::string text_of(std::size_t length) {
  std::string s(length, '\0');
  for (std::size_t i = 0; i < length; ++i) s[i] = static_cast<char>('a' + i % 23 + i / 1000 % 3);
  return s;
}

/// Sends as the ring has room, and receives meanwhile: the client is for one thread.
std::string round_trip(shared_memory_client& c, bytes text) {
  std::string back;
  const std::size_t size = text.size();
  while (back.size() < size) {
    const std::span<char> room = c.reserve();
    const std::size_t count = text.copy(room.data(), room.size());
    if (count > 0) c.commit(count);
    text.remove_prefix(count);
    const bytes next = c.peek();
    back += next;
    if (!next.empty()) c.release(next.size());
    if (count == 0 && next.empty() && !c.wait()) break;
  }
  return back;
}

BOOST_DATA_TEST_CASE(echoes_what_fits_in_the_ring_and_what_does_not, data::make(all_combinations), under) {
  const std::string at = fresh_unix_address();
  with_echo(under, over_shared_memory(under.kind, at, 16 * 1024), [&](auto& srv) {
    shared_memory_client c(at);
    BOOST_TEST(c.ring_size() == 16U * 1024);
    for (const std::size_t size : {1U, 100U, 16U * 1024, 300'000U}) BOOST_TEST((round_trip(c, text_of(size)) == text_of(size)));
    c.finish_sending();
    BOOST_TEST(!c.wait());
    BOOST_TEST(!c.end_reason());
    BOOST_TEST(eventually([&] { return srv.statistics().closed == 1U; }));
  });
  BOOST_TEST(eventually([] { return mapped_segments() == 0; }));
  BOOST_TEST(shm::parked_endpoints::size() == 0U);
}

BOOST_DATA_TEST_CASE(one_server_serves_tcp_and_unix_sockets_and_shared_memory, data::make(all_combinations), under) {
  const std::string at = fresh_unix_address();
  with_echo(under, over_shared_memory(under.kind, at), [&](auto& srv) {
    client tcp(srv.port()), unix_socket = client::over(connected_to(at));
    shared_memory_client one(at), two(at);
    for (int round = 0; round < 20; ++round) {
      for (client* c : {&tcp, &unix_socket}) {
        c->send("socket");
        BOOST_TEST(c->receive(6) == "socket");
      }
      for (shared_memory_client* c : {&one, &two}) BOOST_TEST(round_trip(*c, "memory") == "memory");
    }
    BOOST_TEST(srv.statistics().accepted == 4U);
  });
}

}  // namespace
}  // namespace quintet::test
