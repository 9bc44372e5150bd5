// SPDX-License-Identifier: BSL-1.0
// connection_migration_test: each fact that keeps a connection on its loop, alone.
#include <quintet/net/connection/connection_extras.hpp>
#include <quintet/net/connection/connection_migration.hpp>

#include "scripted_session.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <memory>
#include <ostream>

using namespace quintet;
using namespace quintet::detail;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

struct obstacle {
  const char* name;
  void (*set)(connection_core&);
};
std::ostream& operator<<(std::ostream& out, const obstacle& o) { return out << o.name; }

const std::array obstacles{
    obstacle{"draining", [](connection_core& c) { loop_flags_of(c).phase = connection_phase::draining; }},
    obstacle{"closing", [](connection_core& c) { loop_flags_of(c).phase = connection_phase::closing; }},
    obstacle{"lingering", [](connection_core& c) { loop_flags_of(c).phase = connection_phase::lingering; }},
    obstacle{"ended", [](connection_core& c) { loop_flags_of(c).phase = connection_phase::ended; }},
    obstacle{"the peer has ended", [](connection_core& c) { loop_flags_of(c).input.peer_ended = true; }},
    obstacle{"close() was called", [](connection_core& c) { baton_flags_of(c).core.close_requested = true; }},
    obstacle{"on_writable is owed", [](connection_core& c) { baton_flags_of(c).output.wants_writable = true; }},
    obstacle{"calls wait", [](connection_core& c) { baton_flags_of(c).handoff.has_calls = true; }},
    obstacle{"a connection that it feeds is full", [](connection_core& c) { connection_input::throttle(c, 1); }},
    obstacle{"output waits", [](connection_core& c) { loop_flags_of(c).output.is_queued = true; }},
    obstacle{"output is above its watermark",
             [](connection_core& c) { loop_flags_of(c).output.above_watermark = true; }},
    obstacle{"the peer knows of the half-close", [](connection_core& c) { loop_flags_of(c).output.send_shut = true; }},
    obstacle{"half-close", [](connection_core& c) { baton_flags_of(c).output.shutdown_requested = true; }},
    obstacle{
        "something is told at the turn's end",
        [](connection_core& c) { c.fail_if(c.output_.send_message(c, std::make_shared<const std::string>("news"))); }},
    obstacle{"it feeds another one",
             [](connection_core& c) {
               c.own_ = std::make_unique<connection_settings>();
               c.own_->source = {.home = 1, .slot = 0, .generation = 1};
             }},
};

/// Counts those that have not been destroyed.
struct counted_transport final : transport {
  explicit counted_transport(int& all) : transport(&all), alive(all) { ++alive; }
  ~counted_transport() override { --alive; }
  int& alive;
};

/// Of another loop, on an engine of its own.
struct other_loop {
  scripted_engine::journal wire;
  manual_clock time;
  event_loop loop{std::make_unique<scripted_engine>(wire), time};
};

}  // namespace

BOOST_DATA_TEST_CASE(each_fact_alone_keeps_a_connection_on_its_loop, bdata::make(obstacles)) {
  session_world w({.runs_here = true, .can_move = true});
  connection_core& c = w.core();
  w.turn([&] {
    BOOST_TEST(c.make_extras());
    BOOST_TEST(connection_migration::is_possible(c));
    sample.set(c);
    BOOST_TEST(!connection_migration::is_possible(c));
    loop_flags_of(c) = {};
    baton_flags_of(c) = {};
    c.own_ = nullptr;
  });
}

BOOST_AUTO_TEST_CASE(limits_of_its_own_and_pending_input_do_not_keep_it) {
  session_world w({.runs_here = true, .can_move = true});
  connection_core& c = w.core();
  w.turn([&] {
    BOOST_TEST(c.make_extras());
    c.own_ = std::make_unique<connection_settings>();
    loop_flags_of(c).input.has_pending = loop_flags_of(c).input.stopped = true;
    baton_flags_of(c).input = {.paused = true, .has_unread = true, .requires_more = true};
    BOOST_TEST(connection_migration::is_possible(c));
    loop_flags_of(c) = {};
    baton_flags_of(c) = {};
  });
}

BOOST_AUTO_TEST_CASE(a_request_is_refused_where_it_could_never_be_met) {
  other_loop other;
  const auto asked = [&](handoff_constants constants, bool detaches) {
    session_world w(constants, {.linger_timeout = {}}, {.detaches = detaches});
    bool taken = false;
    w.turn([&] { taken = connection_migration::request(w.core(), other.loop); });
    BOOST_TEST(bool(baton_flags_of(w.core()).core.has_changes) == taken);
    baton_flags_of(w.core()) = {};
    return taken;
  };
  BOOST_TEST(asked({.runs_here = true, .can_move = true}, true));
  BOOST_TEST(!asked({.runs_here = true}, true));
  BOOST_TEST(!asked({.keeps_baton = true, .can_move = true}, true));
  BOOST_TEST(!asked({.runs_here = true, .can_move = true}, false));
  session_world w({.runs_here = true, .can_move = true});
  w.turn([&] { BOOST_TEST(!connection_migration::request(w.core(), w.loop)); });
}

BOOST_AUTO_TEST_CASE(without_a_successor_it_stays_and_has_no_target_any_more) {
  session_world w({.runs_here = true, .can_move = true});
  other_loop other;
  connection_core& c = w.core();
  w.turn([&] {
    BOOST_TEST(c.make_extras());
    c.extras_->migrates_to = &other.loop;
    connection_migration::run(c);
    BOOST_TEST(!c.extras_->migrates_to);
    BOOST_TEST(!c.has_ended());
  });
  w.arrive("abc");
  BOOST_TEST(w.session.batches.size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_successor_has_the_handle_the_id_and_the_input) {
  other_loop other;
  session_world w({.runs_here = true, .can_move = true});
  connection_core& c = w.core();
  scripted_session next(other.loop, w.host, {.runs_here = true, .can_move = true}, true);
  w.session.migrated = &next;
  const connection_id id = w.session.id();
  w.turn([&] {
    BOOST_TEST(c.make_extras());
    BOOST_TEST(!c.input_.append(c, "abc"));
    BOOST_TEST(!c.input_.append_pending(c, "def"));
    c.extras_->migrates_to = &other.loop;
    connection_migration::run(c);
    BOOST_TEST(c.has_ended());
    BOOST_TEST(c.handle_ == -1);
  });
  other.loop.poll();
  BOOST_TEST((next.id() == id));
  BOOST_TEST(next.core().handle_ == 7);
  BOOST_TEST((other.wire.calls == std::vector<std::string>{"add"}));
  BOOST_TEST((next.batches == std::vector<std::string>{"abcdef"}));
  BOOST_TEST(w.session.closed.empty());  // it goes on elsewhere: that is no end
  BOOST_TEST(w.host.registry.count() == 1U);
}

BOOST_AUTO_TEST_CASE(what_a_stream_carries_goes_from_engine_to_engine_and_is_closed_with_it) {
  int alive = 0;
  other_loop other;
  part_world w({.linger_timeout = {}});
  scripted_session first(w.loop, w.host, {.runs_here = true, .can_move = true});
  scripted_session next(other.loop, w.host, {.runs_here = true, .can_move = true}, true);
  first.migrated = &next;
  w.turn([&] {
    connection_core& c = first.core();
    BOOST_TEST(!c.open({7, std::make_unique<counted_transport>(alive)}, {}));
    BOOST_TEST(c.make_extras());
    c.extras_->migrates_to = &other.loop;
    connection_migration::run(c);
  });
  BOOST_TEST(alive == 1);
  other.loop.poll();
  BOOST_TEST(next.core().handle_ == 7);
  BOOST_TEST(alive == 1);
  other.loop.post([&]() noexcept { next.core().fail(errc::aborted); });
  other.loop.poll();
  BOOST_TEST(next.core().handle_ == -1);
  BOOST_TEST(alive == 0);
  BOOST_TEST(next.is_destroyed);
}

BOOST_AUTO_TEST_CASE(a_connection_that_cannot_open_leaves_the_stream_with_what_it_carries) {
  int alive = 0;
  part_world w({}, {}, {.add_fails = error_code(EMFILE, boost::system::system_category())});
  scripted_session s(w.loop, w.host, {.runs_here = true});
  stream_handle stream(7, std::make_unique<counted_transport>(alive));
  w.turn([&] { BOOST_TEST(s.core().open(static_cast<stream_handle&&>(stream), {}).value() == EMFILE); });
  BOOST_TEST(stream.get() == 7);
  BOOST_TEST(stream.carried() != nullptr);
}
