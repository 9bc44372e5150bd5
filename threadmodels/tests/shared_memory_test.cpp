// SPDX-License-Identifier: BSL-1.0
// shared_memory_test: the ordinary handlers serve clients over shared memory, beside TCP and Unix sockets.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/segment_access.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "forked.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/engine/shm/offer.hpp>
#include <quintet/net/shared_memory_client.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <sched.h>
#include <unistd.h>

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
    running<server> srv(c, &echo_coroutine);
    f(*srv);
  } else {
    running<server> srv(c, echo());
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
    for (const std::size_t size : {1U, 100U, 16U * 1024, 300'000U})
      BOOST_TEST((round_trip(c, text_of(size)) == text_of(size)));
    c.finish_sending();
    BOOST_TEST(!c.wait());
    BOOST_TEST(!c.end_reason());
    BOOST_TEST(eventually([&] { return srv.statistics().closed == 1U; }));
  });
  BOOST_TEST(eventually([] { return mapped_segments() == 0; }));
}

BOOST_DATA_TEST_CASE(one_server_serves_tcp_and_unix_sockets_and_shared_memory, data::make(all_combinations), under) {
  const std::string at = fresh_unix_address();
  with_echo(under, over_shared_memory(under.kind, at), [&](auto& srv) {
    client tcp(srv.port()), unix_socket = client::over(connected_to(at).release());
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

// ---- The library's own client ---------------------------------------------------------------------------------------

struct asked {
  std::atomic<int> right{0}, ended{0};
  std::atomic<bool> wrong{false};
};
const std::string question = text_of(200'000);  // more than a ring

struct asking {
  asked* all;
  std::size_t received = 0;
  void on_open(connection& c) const { c.write(question); }
  void operator()(connection&, bytes in) {
    if (question.compare(received, in.size(), in) != 0) all->wrong = true;
    if ((received += in.size()) == question.size()) ++all->right;
  }
  void on_close(connection&, error_code) const { ++all->ended; }
};
struct asking_coroutine {
  asked* all;
  awaitable<> operator()(stream& s) const {
    s.write(question);
    std::string got;
    while (const auto in = co_await s.read()) {
      got += *in;
      if (got == question) ++all->right;
    }
    ++all->ended;
  }
};

client_config asking_config(combination under) {
  return {.model = under.kind,
          .threads = {.loops = 2, .workers = {1, 2}},
          .connecting = {.upgrade = connection_upgrade::shared_memory}};
}

/// Calls f(client, asked) with a client of the combination that runs.
template <class F>
void with_client(combination under, F f) {
  asked all;
  const auto run = [&](auto handler) {
    quintet::client c(asking_config(under), handler);
    c.run_in_background();
    f(c, all);
  };
  if (under.is_coroutine())
    run(asking_coroutine{&all});
  else
    run(asking{&all});
  BOOST_TEST(!all.wrong);
}

BOOST_DATA_TEST_CASE(a_client_takes_shared_memory_when_it_is_offered, data::make(all_combinations), under) {
  const std::string at = fresh_unix_address();
  with_echo(under, over_shared_memory(under.kind, at), [&](auto& srv) {
    with_client(under, [&](auto& c, asked& all) {
      for (int i = 0; i < 3; ++i) c.connect(at);
      BOOST_TEST(eventually([&] { return all.right == 3; }));
      BOOST_TEST(mapped_segments() == 6);  // both ends are in this process
      srv.drain(std::chrono::seconds(30));
      BOOST_TEST(eventually([&] { return all.ended == 3; }));
    });
  });
  BOOST_TEST(mapped_segments() == 0);
}

BOOST_DATA_TEST_CASE(a_client_uses_the_unix_socket_of_a_server_without_shared_memory, data::make(all_models), kind) {
  const std::string at = fresh_unix_address();
  running<server> srv(config{.listen = {at}, .model = kind}, echo());
  with_client({kind, flavour::callback}, [&](auto& c, asked& all) {
    c.connect(at);
    BOOST_TEST(eventually([&] { return all.right == 1; }));
    BOOST_TEST(mapped_segments() == 0);
  });
}

BOOST_DATA_TEST_CASE(a_client_that_may_not_attach_uses_the_unix_socket, data::make(all_models), kind) {
  const std::string at = fresh_unix_address();
  std::atomic<uid_t> asked_about{0};
  config c = over_shared_memory(kind, at);
  c.listen[0].shared_memory.may_attach = [&](const peer_credentials& p) {
    asked_about = p.user + 1;
    return false;
  };
  std::atomic<int> refused{0};
  c.accepting.on_refused = [&](error_code why, const address&) {
    refused += why == boost::system::errc::permission_denied;
    return "nobody reads this: the peer expects shared memory";
  };
  running<server> srv(c, echo());
  with_client({kind, flavour::callback}, [&](auto& cl, asked& all) {
    cl.connect(at);
    BOOST_TEST(eventually([&] { return all.right == 1; }));
  });
  BOOST_TEST(asked_about == ::getuid() + 1);
  BOOST_TEST(refused == 1);
  BOOST_CHECK_THROW(shared_memory_client{at}, boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(limits_of_connections_hold_for_shared_memory_too) {
  const std::string at = fresh_unix_address();
  config c = over_shared_memory(model::loop_per_thread, at);
  c.accepting.max_connections = 2;
  running<server> srv(c, echo());
  auto one = std::make_unique<shared_memory_client>(at);
  const shared_memory_client two(at);
  auto third = std::async(std::launch::async, [&at] { return std::make_unique<shared_memory_client>(at); });
  BOOST_TEST(round_trip(*one, "before") == "before");
  BOOST_TEST(eventually([&] { return srv->connections().count() == 2U; }));
  one.reset();  // makes room for the third, which waits in the backlog
  BOOST_TEST(round_trip(*third.get(), "after") == "after");
}

// ---- Ends -----------------------------------------------------------------------------------------------------------

struct noted_end {
  std::promise<std::pair<std::string, error_code>>* result;
  std::string got = {};
  void operator()(connection&, bytes in) { got += in; }
  void on_close(connection&, error_code why) const { result->set_value({got, why}); }
};

BOOST_DATA_TEST_CASE(a_dead_client_has_sent_what_it_had_committed, data::make(all_models), kind) {
  const std::string at = fresh_unix_address();
  std::promise<std::pair<std::string, error_code>> result;
  const forked child([&at] {
    for (;;) try {
        shared_memory_client c(at);
        c.send("committed");
        const std::span<char> half = c.reserve();
        std::fill_n(half.begin(), 100, 'x');  // never committed
        ::kill(::getpid(), SIGKILL);
      } catch (const boost::system::system_error&) {  // the server does not listen yet
        ::sched_yield();
      }
    return 1;
  });
  running<server> srv(over_shared_memory(kind, at), noted_end{&result});
  const auto [got, why] = result.get_future().get();
  BOOST_TEST(got == "committed");
  BOOST_TEST(why == boost::system::errc::connection_reset);
}

BOOST_DATA_TEST_CASE(a_client_sees_a_reset_when_its_server_aborts, data::make(all_combinations), under) {
  const std::string at = fresh_unix_address();
  with_echo(under, over_shared_memory(under.kind, at), [&](auto& srv) {
    shared_memory_client c(at);
    BOOST_TEST(round_trip(c, "open") == "open");
    for (const connection_id id : srv.connections().all()) BOOST_TEST(!srv.connections().abort(id));
    BOOST_TEST(!c.wait());
    BOOST_TEST(c.end_reason() == boost::system::errc::connection_reset);
    BOOST_TEST(!c.send(text_of(100'000)));
  });
}

// ---- Hostile peers --------------------------------------------------------------------------------------------------

/// A client that maps the memory by its own means.
struct raw_client {
  explicit raw_client(const std::string& at) : socket(connected_to(at + ".shm")) {
    while (shm::receive_offer(socket.get(), memory)) std::this_thread::yield();
  }
  file_descriptor socket;
  shm::segment memory;
};

BOOST_DATA_TEST_CASE(a_peer_that_scribbles_harms_only_its_own_connection, data::make(all_combinations), under) {
  const std::string at = fresh_unix_address();
  with_echo(under, over_shared_memory(under.kind, at, 4096), [&](auto& srv) {
    shared_memory_client good(at);
    std::mt19937_64 random(under.is_coroutine() ? 1 : 2);
    for (int run = 0; run < 30; ++run) {
      raw_client bad(at);
      const shm::segment_access all(bad.memory);
      for (int step = 0; step < 40; ++step) {
        const std::uint64_t value = random() % 3 ? random() % 10'000 : random();
        all.write(random() % 3 ? random() % 1100 : random() % all.size(), value);
        shm::wake_peer(bad.socket.get());
        if (step % 8 == 0) BOOST_TEST(round_trip(good, "still here") == "still here");
      }
    }
    BOOST_TEST(round_trip(good, text_of(20'000)) == text_of(20'000));
    BOOST_TEST(eventually([&] { return srv.connections().count() == 1U; }));
  });
}

BOOST_AUTO_TEST_CASE(a_corrupt_ring_ends_the_connection_with_a_protocol_error) {
  const std::string at = fresh_unix_address();
  std::promise<std::pair<std::string, error_code>> result;
  running<server> srv(over_shared_memory(model::single_reactor, at), noted_end{&result});
  raw_client bad(at);
  shm::segment_access(bad.memory).control(false).produced.store(1U << 30U);
  shm::wake_peer(bad.socket.get());
  BOOST_TEST(result.get_future().get().second == boost::system::errc::protocol_error);
}

}  // namespace
}  // namespace quintet::test
