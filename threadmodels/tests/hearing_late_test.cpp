// SPDX-License-Identifier: BSL-1.0
// hearing_late_test: what batches of a pool's queue and handlers of ended connections hear, and what reaches a thread
// that sends.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "heard.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/connection.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <sys/socket.h>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

config options_for(model kind) {
  return {.model = kind, .threads = {.loops = 1, .workers = {2, 2}, .offload = {offload_policy::always}}};
}

/// Works after the end of its connection, until the server ends too.
struct outlives {
  heard_journal* log;
  std::atomic<bool>* works;
  awaitable<> operator()(stream& s) const {
    const auto ends = [](const cancel_token& t) {
      return t.has(cancel_reason::drain_deadline) || t.has(cancel_reason::stopped);
    };
    co_await s.offload([this, &ends](const cancel_token& t) {
      *works = true;
      while (!ends(t)) std::this_thread::yield();
    });
    log->note(name_of(s.cancelled().why()));
  }
};

BOOST_DATA_TEST_CASE(a_drain_that_begins_after_the_end_is_no_stop, data::make(pooled_models), kind) {
  heard_journal log;
  std::atomic<bool> works{false};
  running<server> srv(options_for(kind), outlives{&log, &works});
  const client c(srv->port());
  BOOST_TEST(eventually([&] { return works.load(); }));
  BOOST_TEST(!srv->connections().abort(srv->connections().all().at(0)));
  BOOST_TEST(eventually([&] { return srv->connections().count() == 0; }));
  srv->drain(1ms);
  srv.join();
  BOOST_TEST(log.has("drain_deadline"));
}

// In model 1 the thread waits for room in send().
awaitable<> write_until_late(stream& s, heard_journal& log) {
  const auto limit = s.with_deadline(s.loop().now() + 1ms);
  do s.write(std::string(100'000, 'x'));
  while (co_await s.until_writable());
  log.note(name_of(s.cancelled().why()));
}

BOOST_DATA_TEST_CASE(a_deadline_ends_the_wait_for_room, data::make(all_models), kind) {
  heard_journal log;
  running<server> srv(options_for(kind), [&log](stream& s) { return write_until_late(s, log); });
  client c(srv->port());
  BOOST_TEST(eventually([&] { return log.has("deadline"); }));
}

/// Notes for each batch what it hears. The first waits.
struct notes_each {
  gate* first;
  heard_journal* log;
  cancel_reasons cancels;
  void operator()(connection& c, bytes in) const {
    c.cancel_on(cancels);
    if (in == "1") first->wait();
    log->note(std::string(in) + name_of(c.cancelled().why()));
  }
};

// The reset was heard while an earlier batch ran.
BOOST_DATA_TEST_CASE(later_batches_know_of_a_reset, data::make(pooled_models) * data::make({false, true}), kind, gone) {
  gate first;
  heard_journal log;
  const cancel_reasons ends{cancel_reason::peer_finished, cancel_reason::peer_reset};
  running<server> srv(options_for(kind), notes_each{&first, &log, gone ? ends : default_cancel_reasons});
  client c(srv->port());
  c.send("1");
  BOOST_TEST(first.await_waiting(1));
  c.send("2");
  BOOST_TEST(eventually([&] { return srv->statistics().bytes_received == 2; }));
  c.reset();
  for (std::uint64_t opened = 2; opened < 5; ++opened) {  // the loop has heard what came before
    const client other(srv->port());
    BOOST_TEST(eventually([&] { return srv->statistics().opened == opened; }));
  }
  first.open();
  BOOST_TEST(eventually([&] { return gone ? srv->statistics().skipped == 1 : log.has("2peer_reset"); }));
  BOOST_TEST(log.has("1peer_reset"));
}

/// The first batch waits; the others wait for a thread of the pool.
struct queues {
  gate* first;
  std::atomic<int>* begun;
  cancel_reasons cancels;
  void on_open(connection& c) const { c.cancel_on(cancels); }
  void operator()(connection&, bytes) const {
    if (begun->fetch_add(1) == 0) first->wait();
  }
};

BOOST_DATA_TEST_CASE(batches_that_nobody_waits_for_never_begin,
                     data::make({model::reactor_pool, model::loop_per_thread_pool}) * data::make({false, true}), kind,
                     aborts) {
  constexpr std::size_t many = 50;
  gate first;
  std::atomic<int> begun{0};
  const cancel_reasons gone{cancel_reason::peer_finished, cancel_reason::peer_reset};
  config c = options_for(kind);
  c.threads.workers = {1, 1};
  running<server> srv(c, queues{&first, &begun, aborts ? default_cancel_reasons : gone});
  std::vector<client> clients;
  const auto connect = [&] {
    clients.emplace_back(srv->port());
    BOOST_TEST(eventually([&] { return srv->statistics().opened == clients.size(); }));
  };
  const auto send = [&](std::size_t to) {
    const std::uint64_t before = srv->statistics().batches;
    clients[to].send("x");
    BOOST_TEST(eventually([&] { return srv->statistics().batches == before + 1; }));
  };
  while (clients.size() <= many) connect();
  send(many);
  BOOST_TEST(eventually([&] { return begun == 1; }));
  for (std::size_t i = 0; i < many; ++i) send(i);
  for (std::size_t i = 0; i < many && !aborts; ++i) i % 2 == 0 ? clients[i].reset() : clients[i].finish_sending();
  for (const connection_id id : aborts ? srv->connections().all() : std::vector<connection_id>())
    srv->connections().abort(id);
  for (int turns = 0; turns < 3; ++turns) connect();  // the loops have heard what came before
  first.open();
  BOOST_TEST(eventually([&] { return srv->statistics().skipped == many; }));
  BOOST_TEST(begun == 1);
}

/// Takes the error of a reset out of the socket, as an engine's receive may, and then asks for the end.
struct takes_the_error {
  std::atomic<bool>* began;
  heard_journal* log;
  void operator()(connection& c, bytes) const {
    *began = true;
    char byte = 0;
    while (::recv(native_handle(c), &byte, 1, MSG_DONTWAIT) >= 0 || errno != ECONNRESET) std::this_thread::yield();
    log->note(name_of(c.look_for_end().why()));
  }
};

BOOST_DATA_TEST_CASE(a_reset_whose_error_was_taken_is_a_reset,
                     data::make({model::thread_per_connection, model::single_reactor, model::loop_per_thread}), kind) {
  heard_journal log;
  std::atomic<bool> began{false};
  running<server> srv(options_for(kind), takes_the_error{&began, &log});
  client c(srv->port());
  c.send("x");
  BOOST_TEST(eventually([&] { return began.load(); }));
  c.reset();
  BOOST_TEST(eventually([&] { return log.all().size() == 1; }));
  BOOST_TEST(log.has("peer_reset"));
}

}  // namespace
}  // namespace quintet::test
