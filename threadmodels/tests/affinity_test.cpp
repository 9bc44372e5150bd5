// SPDX-License-Identifier: BSL-1.0
// affinity_test: code that uses a connection without its baton, or a loop from another thread, ends the program with a
// message that says what to do instead. A child process runs each such misuse.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/file_descriptor.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/net/watch/affinity_guard.hpp>
#include <quintet/threadmodels/server.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

boost::test_tools::assertion_result is_guarded(boost::unit_test::test_unit_id) {
  return detail::affinity_guard::enabled;
}

struct outcome {
  bool aborted = false;
  std::string said;
};

/// Runs `misdeed` in a child process, which is expected to abort. If `misdeed` returns, the child exits with 0.
template <class Misdeed>
outcome dies_of(Misdeed misdeed) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);
    std::signal(SIGABRT, SIG_DFL);  // not the handler of Boost.Test
    ::dup2(ends[1], STDERR_FILENO);
    misdeed();
    ::_exit(0);
  }
  ::close(ends[1]);
  const file_descriptor from(ends[0]);
  outcome result;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = ::read(from.get(), piece.data(), piece.size())) > 0;)
    result.said.append(piece.data(), static_cast<std::size_t>(n));
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  result.aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return result;
}

bool says(const outcome& o, std::string_view what) { return o.said.find(what) != std::string::npos; }

config of(model kind) { return {.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 2, .workers = {2, 2}}}; }

/// Echoes, and publishes its connection, as no handler should.
struct indiscreet {
  std::atomic<connection*>* shown;
  gate* wait_at = nullptr;
  void operator()(connection& c, bytes in) const {
    c.write(in);
    *shown = &c;
    if (wait_at) wait_at->wait();
  }
};

/// Calls `misdeed` on the test's thread, with a connection whose handler has answered and returned.
template <class Handler = indiscreet, class F>
outcome dies_after_a_reply(model kind, F misdeed) {
  return dies_of([&] {
    std::atomic<connection*> shown{nullptr};
    running<server> srv(of(kind), Handler{&shown});
    client c(srv->port());
    (void)c.send("x");
    (void)c.receive(1);  // the byte is sent after the handler has returned
    misdeed(*shown.load(), srv->main_loop());
  });
}

/// The same while the handler, or its offloaded work, waits at the gate.
template <class Handler, class F>
outcome dies_during_work(model kind, F misdeed) {
  return dies_of([&] {
    std::atomic<connection*> shown{nullptr};
    gate here;
    running<server> srv(of(kind), Handler{&shown, &here});
    client c(srv->port());
    (void)c.send("x");
    if (here.await_waiting(1)) misdeed(*shown.load());
  });
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(is_guarded))
BOOST_DATA_TEST_CASE(writing_when_the_handler_is_not_at_work, data::make(all_models), kind) {
  const outcome end = dies_after_a_reply(kind, [](connection& c, event_loop&) { c.write("y"); });
  BOOST_TEST(end.aborted);
  BOOST_TEST(says(end, "quintet::connection::write"), end.said);
  BOOST_TEST(says(end, "no thread has its baton"), end.said);
  BOOST_TEST(says(end, "Instead: keep its id() and call registry().send(id, bytes)"), end.said);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(is_guarded))
BOOST_DATA_TEST_CASE(closing_what_another_thread_is_at_work_for, data::make(all_models), kind) {
  const outcome end = dies_during_work<indiscreet>(kind, [](connection& c) { c.close(); });
  BOOST_TEST(end.aborted);
  BOOST_TEST(says(end, "quintet::connection::close"), end.said);
  BOOST_TEST(says(end, is_pooled(kind) ? "but thread \"qnt-work" : "but thread \""), end.said);
  BOOST_TEST(says(end, "has its baton"), end.said);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(is_guarded))
BOOST_DATA_TEST_CASE(a_timer_is_not_the_handler, data::make(all_models), kind) {
  const outcome end = dies_after_a_reply(kind, [](connection& c, event_loop&) {
    gate done;
    c.loop().after(duration{}, [&] {
      c.shutdown_send();
      done.open();
    });
    done.wait();
  });
  BOOST_TEST(end.aborted);
  BOOST_TEST(says(end, "quintet::connection::shutdown_send"), end.said);
  BOOST_TEST(says(end, "no thread has its baton"), end.said);
}

struct indiscreet_coroutine {
  std::atomic<connection*>* shown;
  awaitable<> operator()(stream& s) const {
    while (const auto in = co_await s.read()) {
      s.write(*in);
      *shown = &s;
    }
  }
};

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(is_guarded))
BOOST_DATA_TEST_CASE(a_coroutine_that_waits_for_input, data::make(all_models), kind) {
  const outcome end =
      dies_after_a_reply<indiscreet_coroutine>(kind, [](connection& c, event_loop&) { (void)c.peer_address(); });
  BOOST_TEST(end.aborted);
  BOOST_TEST(says(end, "quintet::connection::peer_address"), end.said);
}

struct offloading {
  std::atomic<connection*>* shown;
  gate* here;
  awaitable<> operator()(stream& s) const {
    (void)co_await s.read();
    *shown = &s;
    co_await s.offload([this] { here->wait(); });
  }
};

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(is_guarded))
BOOST_DATA_TEST_CASE(a_coroutine_that_has_offloaded_work, data::make(all_models), kind) {
  const outcome end = dies_during_work<offloading>(kind, [](connection& c) { c.pause_reading(); });
  BOOST_TEST(end.aborted);
  BOOST_TEST(says(end, "quintet::connection::pause_reading"), end.said);
  BOOST_TEST(says(end, is_pooled(kind) ? "but thread \"qnt-work" : "but thread \""), end.said);
}

struct member_of_loop {
  explicit member_of_loop(event_loop&) noexcept {}
};

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(is_guarded))
BOOST_DATA_TEST_CASE(a_loop_from_outside, data::make(all_models), kind) {
  const outcome end = dies_after_a_reply(kind, [](connection&, event_loop& main) { (void)main.use<member_of_loop>(); });
  BOOST_TEST(end.aborted);
  BOOST_TEST(says(end, "quintet::event_loop::use"), end.said);
  BOOST_TEST(says(end, "but the loop runs on thread \"test-run\""), end.said);
  BOOST_TEST(says(end, "Instead: call event_loop::post(f)"), end.said);
}

/// Uses every function that a handler may use.
struct well_behaved {
  void on_open(connection& c) const { c.set_limits(c.limits()); }
  void operator()(connection& c, bytes in) const {
    const auto together = c.cork();
    c.when_sent([](error_code) {});
    (void)c.writable();
    (void)c.peer_address();
    c.write(in);
    c.registry().post(c.id(), [](connection& again) { again.write("posted"); });
    if (in == "q") c.close();
  }
  void on_close(connection& c, error_code) const { (void)c.peer_address(); }
};

BOOST_DATA_TEST_CASE(what_is_allowed_is_left_alone, data::make(all_models), kind) {
  running<server> srv(of(kind), well_behaved());
  client c(srv->port());
  BOOST_TEST(c.send("x"));
  BOOST_TEST(c.receive(7) == "xposted");
  BOOST_TEST(c.send("q"));
  BOOST_TEST(c.receive_rest().substr(0, 1) == "q");
}

struct well_behaved_coroutine {
  awaitable<> operator()(stream& s) const {
    const auto in = co_await s.read();
    co_await s.offload([&] { s.write("computed: "); });
    s.write(in.value_or(""));
    (void)co_await s.until_writable();
    s.close();
  }
};

BOOST_DATA_TEST_CASE(offloaded_work_has_the_baton, data::make(all_models), kind) {
  running<server> srv(of(kind), well_behaved_coroutine());
  client c(srv->port());
  BOOST_TEST(c.send("x"));
  BOOST_TEST(c.receive_rest() == "computed: x");
}

}  // namespace
}  // namespace quintet::test
