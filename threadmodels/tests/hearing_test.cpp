// SPDX-License-Identifier: BSL-1.0
// hearing_test: what a handler that works or waits learns of its peer, its deadline, a cancel and a drain.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "heard.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/engine/engine.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/algorithm/string/join.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

/// What a handler does while it has a request, until it is told to stop.
enum class wait_for { sleep, an_event, asio_timer, function, guarded_sleep, room };
std::ostream& operator<<(std::ostream& out, wait_for w) { return out << "wait " << static_cast<int>(w); }
constexpr std::array all_waits{wait_for::sleep,    wait_for::an_event,      wait_for::asio_timer,
                               wait_for::function, wait_for::guarded_sleep, wait_for::room};

struct ward {
  wait_for how;
  cancel_reasons cancels = default_cancel_reasons;
  bool pauses = false;
  bool follows = false;  ///< after the first request, answers each line by itself
  heard_journal* log;
  std::atomic<std::uint64_t>* key = nullptr;
  std::atomic<int>* begun = nullptr;  ///< functions
};

awaitable<> wait(stream& s, const ward& w) {
  event never;
  boost::asio::steady_timer timer(s.get_executor(), 24h);
  switch (w.how) {
    case wait_for::sleep:
      (void)co_await sleep_for(24h);
      break;
    case wait_for::an_event:
      (void)co_await never;
      break;
    case wait_for::asio_timer:
      co_await timer.async_wait(boost::asio::deferred);
      break;
    case wait_for::function:
      co_await s.offload([&w](const cancel_token& token) {
        if (w.begun) ++*w.begun;
        while (!token) std::this_thread::yield();
      });
      break;
    case wait_for::guarded_sleep: {
      const auto limit = s.with_deadline(s.loop().now() + 24h);
      (void)co_await sleep_for(24h);
      break;
    }
    case wait_for::room:
      do s.write(std::string(100'000, 'x'));
      while (co_await s.until_writable());
  }
}

awaitable<> serve(stream& s, const ward& w) {
  s.cancel_on(w.cancels);
  if (w.key) *w.key = static_cast<std::uint64_t>(s.make_cancel_key());
  if (!co_await s.read_until("\n")) co_return;
  if (w.pauses) s.pause_reading();
  s.write("working\n");
  s.flush();
  try {
    co_await wait(s, w);
  } catch (const boost::system::system_error&) {  // of Asio, or of a function that never began
  }
  w.log->note(name_of(s.cancelled().why()));
  if (w.pauses) s.resume_reading();
  while (const auto line = co_await s.read_until("\n"))
    if (w.follows) s.write(std::string(*line) + (s.cancelled() ? "cancelled\n" : "fine\n"));
  w.log->note("over");
}

struct warden {
  ward w;
  awaitable<> operator()(stream& s) const { return serve(s, w); }
};

config options_for(model kind) { return {.model = kind, .threads = {.loops = 1, .workers = {2, 2}, .helpers = 1}}; }

/// A function of offload() hears nothing on its loop's own thread.
bool is_deaf(model kind, wait_for how) { return how == wait_for::function && kind == model::thread_per_connection; }

/// Asio tells nothing of a peer that has finished, while its stream is not read.
bool hears_while_paused(model kind) {
  return kind == model::thread_per_connection || make_default_engine()->capabilities().name != "asio";
}

client begin(running<server>& srv) {
  client c(srv->port());
  c.send("go\n");
  BOOST_TEST(c.receive_line() == "working");
  return c;
}

/// Without what was written until there was no room.
std::string without_filler(const std::string& text) {
  return text.substr(std::min(text.size(), text.find_first_not_of('x')));
}

BOOST_DATA_TEST_CASE(a_reset_cancels_what_a_handler_waits_for, data::make(all_models) * data::make(all_waits), kind,
                     how) {
  if (is_deaf(kind, how)) return;
  heard_journal log;
  running<server> srv(options_for(kind), warden{{.how = how, .log = &log}});
  client c = begin(srv);
  c.reset();
  BOOST_TEST(eventually([&] { return log.has("over"); }));
  BOOST_TEST(log.has("peer_reset"), boost::algorithm::join(log.all(), ", "));
}

BOOST_DATA_TEST_CASE(an_orderly_end_cancels_only_if_asked_for, data::make(all_models) * data::make({false, true}), kind,
                     asked) {
  heard_journal log;
  std::atomic<std::uint64_t> key{0};
  const cancel_reasons finished{cancel_reason::peer_finished, cancel_reason::cancelled};
  running<server> srv(
      options_for(kind),
      warden{{.how = wait_for::sleep, .cancels = asked ? finished : default_cancel_reasons, .log = &log, .key = &key}});
  client c = begin(srv);
  c.finish_sending();
  if (!asked) {
    BOOST_TEST(eventually([&] { return srv->statistics().receives > 0; }));
    BOOST_TEST(!srv->connections().cancel(cancel_key(key.load())));
  }
  BOOST_TEST(eventually([&] { return log.has(asked ? "peer_finished" : "cancelled") && log.has("over"); }));
}

// Reading is stopped: by the handler, or since 64 KiB wait.
BOOST_DATA_TEST_CASE(the_loop_hears_while_it_does_not_read,
                     data::make(all_models) * data::make({false, true}) * data::make({false, true}), kind, pauses,
                     resets) {
  if (!hears_while_paused(kind)) return;
  heard_journal log;
  running<server> srv(options_for(kind), warden{{.how = wait_for::sleep,
                                                 .cancels = {cancel_reason::peer_finished, cancel_reason::peer_reset},
                                                 .pauses = pauses,
                                                 .log = &log}});
  client c = begin(srv);
  const std::string much(pauses ? 10 : 100'000, 'x');  // all of it fits into the kernel, or the end could not arrive
  c.send(much);
  if (!pauses) BOOST_TEST(eventually([&] { return srv->statistics().bytes_received >= 64 * 1024; }));
  if (resets)
    c.reset();
  else
    c.finish_sending();
  BOOST_TEST(eventually([&] { return log.has(resets ? "peer_reset" : "peer_finished"); }));
}

// The connection lives: the next request is not cancelled.
BOOST_DATA_TEST_CASE(a_cancel_ends_with_its_request, data::make(all_models) * data::make(all_waits), kind, how) {
  if (is_deaf(kind, how)) return;
  heard_journal log;
  std::atomic<std::uint64_t> key{0};
  running<server> srv(options_for(kind), warden{{.how = how, .follows = true, .log = &log, .key = &key}});
  client c = begin(srv);
  const auto wrong = cancel_key(key + 1);
  BOOST_TEST(srv->connections().cancel(wrong) == error_code(errc::no_such_connection));
  BOOST_TEST(srv->connections().wrong_keys() == 1U);
  c.send("one\ntwo\n");  // already there when the first is cancelled
  BOOST_TEST(!srv->connections().cancel(cancel_key(key.load())));
  BOOST_TEST(eventually([&] { return log.has("cancelled"); }));
  BOOST_TEST(without_filler(c.receive_line()) == "one");
  BOOST_TEST(c.receive_line() == "fine");
  BOOST_TEST(c.receive_line() == "two");
  BOOST_TEST(c.receive_line() == "fine");
  BOOST_TEST(!srv->connections().cancel(cancel_key(key.load())));  // there is no request
  c.send("three\n");
  BOOST_TEST(c.receive_line() == "three");
  BOOST_TEST(c.receive_line() == "fine");
}

BOOST_DATA_TEST_CASE(a_drain_that_cancels_reaches_what_waits, data::make(all_models) * data::make(all_waits), kind,
                     how) {
  if (is_deaf(kind, how)) return;
  heard_journal log;
  running<server> srv(options_for(kind), warden{{.how = how, .cancels = {cancel_reason::drain}, .log = &log}});
  client c = begin(srv);
  srv->drain(24h);
  BOOST_TEST(without_filler(c.receive_rest()).empty());
  c.close();
  srv.join();
  BOOST_TEST(log.has("drain"));
  BOOST_TEST(log.has("over"));
}

// Whatever cancels the inner one, the outer deadline is still ahead.
awaitable<> nest_deadlines(stream& s, heard_journal& log) {
  const auto outer = s.with_deadline(s.loop().now() + 24h);
  {
    const auto inner = s.with_deadline(s.loop().now() + 1ms);
    log.note("inner " + (co_await sleep_for(24h)).message());
    log.note("later " + (co_await sleep_for(24h)).message());
    log.note(name_of(s.cancelled().why()));
    try {
      co_await s.offload([&log] { log.note("an offloaded function began"); });
    } catch (const boost::system::system_error& e) {
      log.note("offload " + e.code().message());
    }
  }
  log.note("outer " + (co_await sleep_for(1ms)).message());
  const auto past = s.with_deadline(s.loop().now() - 1h);
  log.note(past.has_passed() ? "passed" : "ahead");
}

BOOST_DATA_TEST_CASE(a_deadline_cancels_until_its_scope_ends, data::make(all_models), kind) {
  heard_journal log;
  running<server> srv(options_for(kind), [&log](stream& s) { return nest_deadlines(s, log); });
  client c(srv->port());
  BOOST_TEST(c.receive_rest().empty());
  c.close();
  const std::string passed = error_of(cancel_reason::deadline).message(), success = error_code().message();
  const std::vector<std::string> wanted{"inner " + passed,   "later " + passed,  "deadline",
                                        "offload " + passed, "outer " + success, "passed"};
  BOOST_TEST(log.all() == wanted, boost::test_tools::per_element());
  BOOST_TEST(srv->statistics().skipped == 1U);
}

// With helpers, the loop hears and serves others while a function of offload() runs.
BOOST_DATA_TEST_CASE(helpers_run_functions_beside_the_loop, data::make({model::single_reactor, model::loop_per_thread}),
                     kind) {
  heard_journal log;
  std::atomic<int> begun{0};
  running<server> srv(options_for(kind), warden{{.how = wait_for::function, .log = &log, .begun = &begun}});
  client c = begin(srv);
  BOOST_TEST(eventually([&] { return begun == 1; }));
  client queued = begin(srv);
  queued.reset();      // its function waits for the helper, and never begins
  begin(srv).reset();  // by now the loop has heard that
  c.reset();
  BOOST_TEST(eventually([&] { return log.all().size() == 6; }));
  const std::uint64_t skipped = srv->statistics().skipped;
  BOOST_TEST(skipped >= 1U);
  BOOST_TEST(skipped + static_cast<unsigned>(begun) == 3U);
}

/// Asks for the end where the loop cannot hear it.
struct asks {
  std::atomic<bool>* began;
  heard_journal* log;
  void operator()(connection& c, bytes) const {
    c.cancel_on({cancel_reason::peer_finished, cancel_reason::peer_reset});
    *began = true;
    while (!c.look_for_end()) std::this_thread::yield();
    log->note(name_of(c.cancelled().why()));
  }
};

BOOST_DATA_TEST_CASE(a_callback_can_look_for_the_end, data::make(all_models) * data::make({false, true}), kind,
                     resets) {
  heard_journal log;
  std::atomic<bool> began{false};
  running<server> srv(options_for(kind), asks{&began, &log});
  client c(srv->port());
  c.send("x");
  BOOST_TEST(eventually([&] { return began.load(); }));
  resets ? c.reset() : c.finish_sending();
  BOOST_TEST(eventually([&] { return log.has(resets ? "peer_reset" : "peer_finished"); }));
}

}  // namespace
}  // namespace quintet::test
