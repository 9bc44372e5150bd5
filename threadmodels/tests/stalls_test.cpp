// SPDX-License-Identifier: BSL-1.0
// stalls_test: the watchdog reports once what keeps a thread busy, and does not report threads that wait.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "census.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "journal.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/base/build/sanitizers.hpp>
#include <quintet/net/asio.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using std::chrono::milliseconds;

constexpr milliseconds bound{100};  // long enough that a thread preempted on a loaded machine is no stall

/// A copy of what the hook got.
struct told {
  std::string thread, call, function, peer;
  connection_id connection;
  duration lasted;
  std::vector<std::string> backtrace;
};

/// [any thread]
class listener_to_stalls {
 public:
  stall_options options() {
    return {bound, [this](const stall& s) {
              const std::lock_guard lock(mutex_);
              all_.push_back({std::string(s.thread),
                              std::string(s.call),
                              std::string(s.function),
                              std::string(s.peer),
                              s.connection,
                              s.lasted,
                              {s.backtrace.begin(), s.backtrace.end()}});
            }};
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  bool await(std::size_t count) const {
    return eventually([&] { return size() >= count; });
  }
  told at(std::size_t i) const {
    const std::lock_guard lock(mutex_);
    return all_.at(i);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<told> all_;
};

/// Waits at the gate for an "s", and echoes everything.
struct staller {
  gate& at;
  std::promise<connection_id>& whose;
  void operator()(connection& c, bytes in) const {
    if (in == "s") {
      whose.set_value(c.id());
      (void)at.wait();
    }
    c.write(in);
  }
};
struct stalling_coroutine {
  gate& at;
  std::promise<connection_id>& whose;
  awaitable<> operator()(stream& s) const {
    while (const auto in = co_await s.read()) {
      if (*in == "s") {
        whose.set_value(s.id());
        (void)at.wait();
      }
      if (*in == "o") co_await s.offload([this] { (void)at.wait(); });
      if (*in == "a") {
        boost::asio::steady_timer soon(s.get_executor(), milliseconds(1));
        co_await soon.async_wait(boost::asio::deferred);
        (void)at.wait();
      }
      s.write(*in);
    }
  }
};

std::string thread_of(const combination& c) {
  switch (c.kind) {
    case model::thread_per_connection:
      return "qnt-conn-";
    case model::single_reactor:
      return run_thread_name;
    case model::reactor_pool:
      return c.is_coroutine() ? run_thread_name : "qnt-work-";
    case model::loop_per_thread:
      return "qnt-loop-";
    case model::loop_per_thread_pool:
      return c.is_coroutine() ? "qnt-loop-" : "qnt-work-";
  }
  return {};
}

bool contains(const std::vector<std::string>& frames, const std::string& part) {
  return std::ranges::any_of(frames, [&](const auto& f) { return f.find(part) != std::string::npos; });
}

// Stalls at the second input, so that the handler has been called before.
void begin_to_stall(client& peer, gate& at, const char* how = "s") {
  peer.send("x");
  BOOST_TEST(peer.receive(1) == "x");
  peer.send(how);
  BOOST_TEST(at.await_waiting(1));
}

template <class Handler>
void check_stalling(const combination& which) {
  gate at;
  std::promise<connection_id> whose;
  listener_to_stalls stalls;
  journal log;
  running<server> srv(config{.model = which.kind,
                             .threads = {.loops = 1, .offload = {.policy = offload_policy::always}},
                             .log = log.hook(),
                             .advanced = {.stalls = stalls.options()}},
                      Handler{at, whose});
  client peer(srv->port());
  begin_to_stall(peer, at);
  BOOST_TEST(stalls.await(1));
  const told first = stalls.at(0);
  BOOST_TEST(first.thread.starts_with(thread_of(which)), first.thread);
  BOOST_TEST(first.call == (which.is_coroutine() ? "coroutine" : "input"));
  BOOST_TEST(first.function.find(which.is_coroutine() ? "stalling_coroutine" : "staller") != std::string::npos);
  BOOST_TEST((first.connection == whose.get_future().get()));
  BOOST_TEST(first.peer.starts_with("127.0.0.1:"));
  BOOST_TEST((first.lasted >= bound));
  // The backtrace shows the wait at the gate, and this program.
  BOOST_TEST(contains(first.backtrace, "stalls_test+0x"));
  if (!sanitized) BOOST_TEST(contains(first.backtrace, "pthread_cond_clockwait"));
  BOOST_TEST(log.has("warning: 127.0.0.1:", "has been stalled for "));

  at.open();
  BOOST_TEST(peer.receive(1) == "s");
  srv.stop();
  srv.join();
  BOOST_TEST(stalls.size() == 1U);
  BOOST_TEST(srv->statistics().stalls == 1U);
  BOOST_TEST(log.size() == 1U);
  BOOST_TEST(no_server_threads());
}

BOOST_DATA_TEST_CASE(a_stalled_handler_is_named_once, data::make(all_combinations), which) {
  which.is_coroutine() ? check_stalling<stalling_coroutine>(which) : check_stalling<staller>(which);
}

BOOST_DATA_TEST_CASE(each_stall_is_told_of, data::make(all_models), kind) {
  listener_to_stalls stalls;
  std::promise<connection_id> whose;
  gate first, second;
  const auto handler = [&](connection& c, bytes in) {
    (void)(in == "1" ? first : second).wait();
    c.write(in);
  };
  running<server> srv(config{.model = kind, .advanced = {.stalls = stalls.options()}}, handler);
  client peer(srv->port());
  peer.send("1");
  BOOST_TEST(stalls.await(1));
  first.open();
  BOOST_TEST(peer.receive(1) == "1");
  peer.send("2");
  BOOST_TEST(stalls.await(2));
  second.open();
  BOOST_TEST(peer.receive(1) == "2");
  BOOST_TEST(srv->statistics().stalls == 2U);
}

// The bound passes several times while connections are open and their threads wait for input. The test knows by another
// stall, which is reported afterwards.
BOOST_DATA_TEST_CASE(waiting_is_no_stall, data::make(all_models), kind) {
  listener_to_stalls stalls;
  const auto handler = [](connection& c, bytes in) { c.write(in); };
  running<server> srv(config{.model = kind, .threads = {.loops = 2}, .advanced = {.stalls = stalls.options()}},
                      handler);
  client one(srv->port()), two(srv->port());
  for (client* peer : {&one, &two}) {
    peer->send("x");
    BOOST_TEST(peer->receive(1) == "x");
  }
  for (int round = 0; round < 3; ++round) {
    gate at;
    srv->main_loop().post([&] { (void)at.wait(); });
    BOOST_TEST(stalls.await(static_cast<std::size_t>(round) + 1));
    BOOST_TEST(stalls.at(static_cast<std::size_t>(round)).call == "posted work");
    std::promise<void> over;
    at.open();
    srv->main_loop().post([&] { over.set_value(); });
    over.get_future().get();
  }
  BOOST_TEST(stalls.size() == 3U);
}

struct in_every_callback {
  gate& at;
  void on_open(connection&) const { (void)at.wait(); }
  void operator()(connection& c, bytes) const { c.close(); }
  void on_close(connection&, error_code) const { (void)at.wait(); }
};

BOOST_DATA_TEST_CASE(the_callback_is_named, data::make(all_models), kind) {
  listener_to_stalls stalls;
  gate at;
  running<server> srv(config{.model = kind, .advanced = {.stalls = stalls.options()}}, in_every_callback{at});
  client peer(srv->port());
  BOOST_TEST(stalls.await(1));
  BOOST_TEST(stalls.at(0).call == "on_open");
  at.open();
}

BOOST_DATA_TEST_CASE(what_coroutines_wait_for, data::make(all_models), kind) {
  for (const char* const how : {"o", "a"}) {
    listener_to_stalls stalls;
    gate at;
    std::promise<connection_id> whose;
    running<server> srv(config{.model = kind, .advanced = {.stalls = stalls.options()}}, stalling_coroutine{at, whose});
    client peer(srv->port());
    begin_to_stall(peer, at, how);
    BOOST_TEST(stalls.await(1));
    BOOST_TEST(stalls.at(0).call == (*how == 'o' ? "offloaded work" : "coroutine"));
    BOOST_TEST(bool(stalls.at(0).connection));
    at.open();
    BOOST_TEST(peer.receive(1) == how);
  }
}

BOOST_AUTO_TEST_CASE(timers_of_the_loop) {
  listener_to_stalls stalls;
  gate at;  // outlives the server, whose thread may still wait in it
  const auto handler = [](connection& c, bytes in) { c.write(in); };
  running<server> srv(config{.advanced = {.stalls = stalls.options()}}, handler);
  srv->main_loop().after(milliseconds(1), [&] { (void)at.wait(); });
  BOOST_TEST(stalls.await(1));
  BOOST_TEST(stalls.at(0).call == "a timer");
  const auto has = [&](const char* text) { return stalls.at(0).function.find(text) != std::string::npos; };
  BOOST_TEST((has("timers_of_the_loop") || has("stalls_test.cpp")));  // clang names a lambda by its place
  BOOST_TEST(!stalls.at(0).connection);
  at.open();
}

BOOST_AUTO_TEST_CASE(a_hook_that_throws) {
  std::atomic<int> calls{0};
  gate at;
  std::promise<connection_id> whose;
  const stall_options throwing{bound, [&](const stall&) {
                                 ++calls;
                                 throw 7;
                               }};
  running<server> srv(config{.advanced = {.stalls = throwing}}, staller{at, whose});
  client peer(srv->port());
  begin_to_stall(peer, at);
  BOOST_TEST(eventually([&] { return calls == 1; }));
  at.open();
  BOOST_TEST(peer.receive(1) == "s");
  srv.stop();
  srv.join();
  BOOST_TEST(srv->statistics().stalls == 1U);
}

// A thread that blocks the signal cannot report its work. The rest of the library is not affected.
BOOST_AUTO_TEST_CASE(a_thread_that_blocks_the_signal) {
  listener_to_stalls stalls;
  gate at;
  const auto handler = [&](connection& c, bytes in) {
    sigset_t all{}, before{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    (void)at.wait();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    c.write(in);
  };
  running<server> srv(config{.threads = {.loops = 1}, .advanced = {.stalls = stalls.options()}}, handler);
  client peer(srv->port());
  peer.send("x");
  BOOST_TEST(stalls.await(1));
  BOOST_TEST(stalls.at(0).thread == "qnt-loop-0");
  BOOST_TEST(stalls.at(0).call.empty());
  BOOST_TEST(stalls.at(0).backtrace.empty());
  at.open();
  BOOST_TEST(peer.receive(1) == "x");
}

// The number of stalls is for monitoring, which needs no reports.
BOOST_DATA_TEST_CASE(stalls_are_counted_without_a_receiver_of_reports, data::make(all_models), kind) {
  gate at;
  const auto handler = [&](connection& c, bytes in) {
    (void)at.wait();
    c.write(in);
  };
  running<server> srv(config{.model = kind, .advanced = {.stalls = {bound}}}, handler);
  client peer(srv->port());
  peer.send("x");
  BOOST_TEST(eventually([&] { return srv->statistics().stalls == 1; }));
  at.open();
  BOOST_TEST(peer.receive(1) == "x");
}

BOOST_DATA_TEST_CASE(a_bound_of_zero_starts_no_watchdog, data::make(all_models), kind) {
  const auto handler = [](connection& c, bytes in) { c.write(in); };
  for (const bool is_on : {false, true}) {
    const stall_options options{is_on ? duration(bound) : duration::zero()};
    running<server> srv(config{.model = kind, .advanced = {.stalls = options}}, handler);
    client peer(srv->port());
    peer.send("x");
    BOOST_TEST(peer.receive(1) == "x");
    if (is_on)
      BOOST_TEST(eventually([] { return threads_named("qnt-watchdog").size() == 1; }));  // the thread sets its own name
    else
      BOOST_TEST(threads_named("qnt-watchdog").empty());
  }
  BOOST_TEST(no_server_threads());
}

BOOST_AUTO_TEST_CASE(bounds_that_cannot_be) {
  const auto handler = [](connection& c, bytes in) { c.write(in); };
  for (const duration wrong : {duration(-1), duration(1), duration(std::chrono::hours(2))})
    BOOST_CHECK_THROW((server(config{.advanced = {.stalls = {wrong}}}, handler)), config_error);
}

/// QUINTET_STALL_BOUND, until the destructor restores it.
class environment {
 public:
  environment() {
    if (const char* const before = std::getenv(name)) before_ = before;
  }
  ~environment() { before_ ? ::setenv(name, before_->c_str(), 1) : ::unsetenv(name); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  void set(const char* value) { ::setenv(name, value, 1); }

 private:
  static constexpr const char* name = "QUINTET_STALL_BOUND";
  std::optional<std::string> before_;
};

BOOST_AUTO_TEST_CASE(the_environment_has_the_default) {
  environment variable;
  variable.set("150");
  BOOST_TEST((default_stall_bound() == milliseconds(150)));
  variable.set("0");
  BOOST_TEST((default_stall_bound() == milliseconds(0)));
  for (const char* const wrong : {"1s", "-1", "much", "99999999999999999999"}) {
    variable.set(wrong);
    BOOST_CHECK_EXCEPTION((void)default_stall_bound(), config_error, [&](const config_error& e) {
      return e.what() ==
             "QUINTET_STALL_BOUND is '" + std::string(wrong) + "'; it must be a whole number of milliseconds";
    });
  }
}

BOOST_AUTO_TEST_CASE(a_bound_out_of_range_is_named_by_where_it_comes_from) {
  const auto handler = [](connection& c, bytes in) { c.write(in); };
  const auto refused = [&](const config& c, const std::string& message) {
    BOOST_CHECK_EXCEPTION((server(c, handler)), config_error,
                          [&](const config_error& e) { return message == e.what(); });
  };
  environment variable;
  variable.set("3600001");
  refused({}, "QUINTET_STALL_BOUND is 3600001; it must be 0 (no watchdog), or from 1 to 3600000 milliseconds");
  refused({.advanced = {.stalls = {std::chrono::hours(2)}}},
          "stalls.bound is 2 h; it must be 0 (no watchdog), or from 1 ms to 1 h");
  variable.set("3600000");
  const server longest({}, handler);
}

}  // namespace
}  // namespace quintet::test
