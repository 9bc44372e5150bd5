// SPDX-License-Identifier: BSL-1.0
// step_aside_test: steps of handshakes beside their loop, and what happens there meanwhile.
#include "sockets.hpp"
#include "toy_filter.hpp"

#include <quintet/net/engine/make_engine.hpp>
#include <quintet/net/event_loop.hpp>
#include <quintet/net/secure/securing_queue.hpp>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;
namespace data = boost::unit_test::data;

/// A handshake of so many bytes. Answers each step.
struct counted_source final : handshake_source {
  static constexpr std::size_t needed = 2;

  struct one final : handshake {
    explicit one(counted_source& of) noexcept : source(of) {}
    result step(bytes in, std::string& out) override {
      if (source.running) {
        source.running->count_down();
        source.may_end->wait();
      }
      ++source.steps;
      out += "ok";
      const std::size_t taken = std::min(needed - seen, in.size());
      seen += taken;
      return {.consumed = taken, .is_done = seen == needed, .failed = {}};
    }
    std::unique_ptr<filter> take_filter() override { return std::make_unique<testing::toy_filter>(1); }
    counted_source& source;
    std::size_t seen = 0;
  };

  [[nodiscard]] first_record examine(bytes first) const noexcept override { return {!first.empty(), {}}; }
  [[nodiscard]] std::unique_ptr<handshake> begin(std::string_view) override { return std::make_unique<one>(*this); }
  int steps = 0;
  std::latch *running = nullptr, *may_end = nullptr;  // null: a step does not wait
};

/// Keeps the items until the test runs them.
struct kept_items final : model_interface {
  void start(event_loop&) override {}
  void stop() noexcept override {}
  void run(work_item& item) noexcept override { item(); }
  event_loop& place() override { throw std::logic_error("not called"); }
  void aside(work_item& item) noexcept override { items.push_back(&item); }
  [[nodiscard]] unsigned aside_threads() const noexcept override { return 1; }
  void run_next() {
    work_item& next = *items.front();
    items.pop_front();
    next();
  }
  std::deque<work_item*> items;
};

struct peer final : securing_stream {
  explicit peer(securing_queue& queue) : securing_stream(queue) { start(sockets.here.get()); }
  ~peer() override { *deleted = true; }
  void say(std::string_view what) const {
    BOOST_TEST_REQUIRE(::write(sockets.there.get(), what.data(), what.size()) == static_cast<ssize_t>(what.size()));
  }
  std::string heard() const {
    std::string all(100, '\0');
    const ssize_t got = ::recv(sockets.there.get(), all.data(), all.size(), MSG_DONTWAIT);
    all.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return all;
  }
  void finished(error_code failed, std::unique_ptr<transport> carried, bytes) noexcept override {
    *end = failed;
    *has_filter = carried != nullptr;
  }
  testing::socket_pair sockets;
  std::shared_ptr<std::optional<error_code>> end = std::make_shared<std::optional<error_code>>();
  std::shared_ptr<bool> has_filter = std::make_shared<bool>(), deleted = std::make_shared<bool>();
};

struct fixture {
  ~fixture() {
    queue->stop();
    while (!model.items.empty()) model.run_next();
    loop.stop();
    while (!loop.finished()) loop.poll();
  }
  peer& add() { return *new peer(*queue); }  // deletes itself
  void add_five(std::string_view who_say) {
    for (int i = 0; i < 5; ++i) add().say(who_say);
  }
  void turn() {
    for (int i = 0; i < 4; ++i) loop.poll();
  }

  manual_clock time;
  kept_items model;
  std::shared_ptr<counted_source> source = std::make_shared<counted_source>();
  event_loop loop{make_default_engine(), time};
  std::optional<securing_queue> queue{std::in_place, loop, source, handshake_limits{.timeout = 1s, .at_once = 100},
                                      &model};
};

BOOST_FIXTURE_TEST_SUITE(step_aside, fixture)

// Those that have begun go on. Others wait for the next tenth of a second, unless their peer leaves.
BOOST_AUTO_TEST_CASE(so_many_begin_in_a_second) {
  queue.emplace(loop, source, handshake_limits{.timeout = 1s, .at_once = 100, .per_second = 10}, &model);
  const auto run_all = [&] {
    for (turn(); !model.items.empty(); turn()) model.run_next();
  };
  for (int i = 0; i < 13; ++i) add().say("a");
  run_all();
  BOOST_TEST(source->steps == 10);
  peer& last = add();
  const auto end = last.end;
  last.say("a");
  last.sockets.there.reset();
  run_all();
  BOOST_TEST(end->has_value());
  time.advance(99ms);
  run_all();
  BOOST_TEST(source->steps == 10);
  time.advance(1ms);
  run_all();
  BOOST_TEST(source->steps == 11);
  time.advance(1s);  // the deadline of the others
  run_all();
  BOOST_TEST(source->steps == 11);
  BOOST_TEST(queue->counters().timed_out.value() == 13U);
}

BOOST_AUTO_TEST_CASE(the_loop_goes_on_meanwhile) {
  peer& client = add();
  const auto end = client.end;
  const auto has_filter = client.has_filter;
  client.say("a");
  turn();
  BOOST_TEST(model.items.size() == 1);
  BOOST_TEST(source->steps == 0);
  model.run_next();
  BOOST_TEST(client.heard().empty());  // the loop sends
  turn();
  BOOST_TEST(client.heard() == "ok");
  client.say("b");
  turn();
  model.run_next();
  BOOST_TEST(!end->has_value());
  turn();
  BOOST_TEST(**end == error_code());
  BOOST_TEST(*has_filter);
  BOOST_TEST(source->steps == 2);
}

BOOST_AUTO_TEST_CASE(what_arrives_meanwhile_is_for_the_next_step) {
  peer& client = add();
  const auto end = client.end;
  client.say("a");
  turn();
  client.say("bc");
  turn();
  BOOST_TEST(model.items.size() == 1);
  model.run_next();
  turn();
  BOOST_TEST(model.items.size() == 1);
  model.run_next();
  turn();
  BOOST_TEST(**end == error_code());
}

BOOST_AUTO_TEST_CASE(a_step_of_a_peer_that_was_reset_does_not_begin) {
  peer& client = add();
  const auto end = client.end;
  client.say("a");
  turn();
  BOOST_TEST_REQUIRE(::write(client.sockets.here.get(), "x", 1) == 1);
  client.sockets.there.reset();  // with an unread byte: no orderly end
  turn();
  BOOST_TEST(end->has_value());
  model.run_next();
  turn();
  BOOST_TEST(source->steps == 0);
}

// It may have sent its last records, a request and a FIN together.
BOOST_AUTO_TEST_CASE(a_fin_waits_for_the_step) {
  peer &whole = add(), &part = add();
  const auto end_of_whole = whole.end, end_of_part = part.end;
  whole.say("abc");
  part.say("a");
  turn();
  for (peer* const p : {&whole, &part}) ::shutdown(p->sockets.there.get(), SHUT_WR);
  turn();
  BOOST_TEST(!end_of_whole->has_value());
  BOOST_TEST(!end_of_part->has_value());
  model.run_next();
  model.run_next();
  turn();
  BOOST_TEST(**end_of_whole == error_code());
  BOOST_TEST(**end_of_part == error_code(errc::end_of_stream));
}

BOOST_AUTO_TEST_CASE(the_time_limit_covers_the_wait) {
  peer& client = add();
  const auto end = client.end;
  const auto deleted = client.deleted;
  client.say("a");
  turn();
  time.advance(2s);
  turn();
  BOOST_TEST(**end == error_code(errc::tls_handshake_timeout));
  BOOST_TEST(*deleted);
  model.run_next();
  turn();
  BOOST_TEST(source->steps == 0);
}

BOOST_AUTO_TEST_CASE(few_steps_are_aside_and_others_wait_on_the_loop) {
  add_five("a");
  turn();
  BOOST_TEST(model.items.size() == 2);
  BOOST_TEST(queue->counters().begun.value() == 2);
  model.run_next();
  turn();
  BOOST_TEST(model.items.size() == 2);
  BOOST_TEST(queue->counters().begun.value() == 3);
}

// Input that has arrived counts, whether or not its step has run.
BOOST_DATA_TEST_CASE(a_listener_that_ends_takes_steps_back, data::make({false, true}), is_over) {
  peer& client = add();
  const auto end = client.end;
  client.say("ab");
  turn();
  if (is_over) model.run_next();
  queue->finish_or_stop();
  BOOST_TEST(**end == error_code());
  BOOST_TEST(source->steps == 1);
}

// Its loop would compute what cannot be the last step, for any number of peers.
BOOST_AUTO_TEST_CASE(a_listener_that_ends_begins_nothing) {
  add_five("ab");
  turn();
  BOOST_TEST(model.items.size() == 2);
  queue->finish_or_stop();
  BOOST_TEST(source->steps == 2);
  BOOST_TEST(queue->counters().begun.value() == 2);
}

BOOST_AUTO_TEST_CASE(a_listener_that_ends_waits_for_a_step_that_runs) {
  std::latch running(1), may_end(1);
  source->running = &running;
  source->may_end = &may_end;
  peer& client = add();
  const auto end = client.end;
  client.say("ab");
  turn();
  std::thread thread([this] { model.run_next(); });
  running.wait();
  source->running = nullptr;
  std::thread later([&may_end] { may_end.count_down(); });
  queue->finish_or_stop();
  BOOST_TEST(**end == error_code());
  BOOST_TEST(source->steps == 1);
  thread.join();
  later.join();
}

BOOST_AUTO_TEST_CASE(a_loop_ends_when_its_steps_have_come_back) {
  add().say("a");
  turn();
  queue->stop();
  loop.stop();
  turn();
  BOOST_TEST(!loop.finished());
  model.run_next();
  turn();
  BOOST_TEST(loop.finished());
  BOOST_TEST(source->steps == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace quintet::test
