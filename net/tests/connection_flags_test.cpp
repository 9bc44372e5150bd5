// SPDX-License-Identifier: BSL-1.0
// connection_flags_test: one compare finds a connection idle, and no flag escapes it.
#include "part_world.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <bit>
#include <ostream>
#include <set>

using namespace quintet;
using namespace quintet::detail;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

struct loop_flag {
  const char* name;
  void (*set)(connection_loop_flags&);
};
struct baton_flag {
  const char* name;
  void (*set)(connection_baton_flags&);
};
std::ostream& operator<<(std::ostream& out, const loop_flag& f) { return out << f.name; }
std::ostream& operator<<(std::ostream& out, const baton_flag& f) { return out << f.name; }

const std::array loop_flags{
    loop_flag{"slow_path", [](connection_loop_flags& f) { f.handoff.slow_path = true; }},
    loop_flag{"baton_out", [](connection_loop_flags& f) { f.handoff.baton_out = true; }},
    loop_flag{"baton_lent", [](connection_loop_flags& f) { f.handoff.baton_lent = true; }},
    loop_flag{"has_messages", [](connection_loop_flags& f) { f.handoff.has_messages = true; }},
    loop_flag{"close_asked", [](connection_loop_flags& f) { f.handoff.close_asked = true; }},
    loop_flag{"stopped", [](connection_loop_flags& f) { f.input.stopped = true; }},
    loop_flag{"has_pending", [](connection_loop_flags& f) { f.input.has_pending = true; }},
    loop_flag{"has_unseen", [](connection_loop_flags& f) { f.input.has_unseen = true; }},
    loop_flag{"has_more_to_drain", [](connection_loop_flags& f) { f.input.has_more_to_drain = true; }},
    loop_flag{"throttled", [](connection_loop_flags& f) { f.input.throttled = true; }},
    loop_flag{"peer_ended", [](connection_loop_flags& f) { f.input.peer_ended = true; }},
    loop_flag{"was_reset", [](connection_loop_flags& f) { f.input.was_reset = true; }},
    loop_flag{"is_queued", [](connection_loop_flags& f) { f.output.is_queued = true; }},
    loop_flag{"above_watermark", [](connection_loop_flags& f) { f.output.above_watermark = true; }},
    loop_flag{"partial_message", [](connection_loop_flags& f) { f.output.partial_message = true; }},
    loop_flag{"send_shut", [](connection_loop_flags& f) { f.output.send_shut = true; }},
    loop_flag{"send_failed", [](connection_loop_flags& f) { f.output.send_failed = true; }},
    loop_flag{"draining", [](connection_loop_flags& f) { f.phase = connection_phase::draining; }},
    loop_flag{"closing", [](connection_loop_flags& f) { f.phase = connection_phase::closing; }},
    loop_flag{"lingering", [](connection_loop_flags& f) { f.phase = connection_phase::lingering; }},
    loop_flag{"ended", [](connection_loop_flags& f) { f.phase = connection_phase::ended; }},
};

const std::array baton_flags{
    baton_flag{"close_requested", [](connection_baton_flags& f) { f.core.close_requested = true; }},
    baton_flag{"has_reason", [](connection_baton_flags& f) { f.core.has_reason = true; }},
    baton_flag{"draining", [](connection_baton_flags& f) { f.core.draining = true; }},
    baton_flag{"has_changes", [](connection_baton_flags& f) { f.core.has_changes = true; }},
    baton_flag{"clock_runs", [](connection_baton_flags& f) { f.core.clock_runs = true; }},
    baton_flag{"stalled", [](connection_baton_flags& f) { f.core.stalled = true; }},
    baton_flag{"incomplete", [](connection_baton_flags& f) { f.core.incomplete = true; }},
    baton_flag{"is_new_message", [](connection_baton_flags& f) { f.core.is_new_message = true; }},
    baton_flag{"handler_failed", [](connection_baton_flags& f) { f.handoff.handler_failed = true; }},
    baton_flag{"has_calls", [](connection_baton_flags& f) { f.handoff.has_calls = true; }},
    baton_flag{"is_lent", [](connection_baton_flags& f) { f.input.is_lent = true; }},
    baton_flag{"paused", [](connection_baton_flags& f) { f.input.paused = true; }},
    baton_flag{"has_unread", [](connection_baton_flags& f) { f.input.has_unread = true; }},
    baton_flag{"requires_more", [](connection_baton_flags& f) { f.input.requires_more = true; }},
    baton_flag{"checks_writes", [](connection_baton_flags& f) { f.output.checks_writes = true; }},
    baton_flag{"quantum_used", [](connection_baton_flags& f) { f.output.quantum_used = true; }},
    baton_flag{"shutdown_requested", [](connection_baton_flags& f) { f.output.shutdown_requested = true; }},
    baton_flag{"overflowed", [](connection_baton_flags& f) { f.output.overflowed = true; }},
    baton_flag{"wants_writable", [](connection_baton_flags& f) { f.output.wants_writable = true; }},
    baton_flag{"yields", [](connection_baton_flags& f) { f.output.yields = true; }},
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_fresh_connection_is_idle) {
  part_world w;
  BOOST_TEST(w.context.is_idle());
  BOOST_TEST(w.context.is_idle({.slow_path = true}));
}

BOOST_DATA_TEST_CASE(each_flag_of_the_loop_alone_ends_idleness, bdata::make(loop_flags)) {
  part_world w;
  sample.set(loop_flags_of(w.context));
  BOOST_TEST(!w.context.is_idle());
  BOOST_TEST(w.context.is_idle({.slow_path = true}) == (std::string(sample.name) == "slow_path"));
  BOOST_TEST(w.context.is_idle({.baton_out = true}) == (std::string(sample.name) == "baton_out"));
}

BOOST_DATA_TEST_CASE(each_flag_of_the_baton_alone_ends_idleness, bdata::make(baton_flags)) {
  part_world w;
  sample.set(baton_flags_of(w.context));
  BOOST_TEST(!w.context.is_idle());
  BOOST_TEST(!w.context.is_idle({.slow_path = true}));
}

BOOST_AUTO_TEST_CASE(each_flag_has_a_bit_of_its_own) {
  std::set<std::uint32_t> words;
  for (const loop_flag& f : loop_flags) {
    connection_loop_flags flags;
    f.set(flags);
    if (flags.phase == connection_phase::serving) BOOST_TEST(std::popcount(word(flags)) == 1, f.name);
    BOOST_TEST(words.insert(word(flags)).second, f.name);
  }
  words.clear();
  for (const baton_flag& f : baton_flags) {
    connection_baton_flags flags;
    f.set(flags);
    BOOST_TEST(std::popcount(word(flags)) == 1, f.name);
    BOOST_TEST(words.insert(word(flags)).second, f.name);
  }
}

BOOST_AUTO_TEST_CASE(the_phases_are_in_the_order_of_a_life) {
  using enum connection_phase;
  static_assert(connection_phase{} == serving);
  static_assert(serving < draining && draining < closing && closing < lingering && lingering < ended);
  part_world w;
  for (const connection_phase p : {serving, draining, closing, lingering, ended}) {
    loop_flags_of(w.context).phase = p;
    BOOST_TEST(w.context.is_draining() == (p == draining));
    BOOST_TEST(w.context.is_closing() == (p >= closing));
    BOOST_TEST(w.context.is_lingering() == (p == lingering));
    BOOST_TEST(w.context.has_ended() == (p == ended));
  }
}

BOOST_AUTO_TEST_CASE(each_reason_to_hold_input_holds_it_alone) {
  part_world w({.overflow = overflow_policy::pause});
  part_context& c = w.context;
  BOOST_TEST(!c.holds_input());
  baton_flags_of(c).output.wants_writable = true;
  BOOST_TEST(c.holds_input());
  baton_flags_of(c) = {};
  baton_flags_of(c).input.paused = true;
  BOOST_TEST(c.holds_input());
  baton_flags_of(c) = {};
  loop_flags_of(c).input.throttled = true;
  BOOST_TEST(c.holds_input());
  loop_flags_of(c) = {};
  loop_flags_of(c).output.above_watermark = true;
  BOOST_TEST(c.output_holds_input());
  BOOST_TEST(c.holds_input());
}

BOOST_AUTO_TEST_CASE(only_one_policy_holds_input_behind_output) {
  for (const overflow_policy other : {overflow_policy::drop, overflow_policy::error, overflow_policy::close}) {
    part_world w({.overflow = other});
    loop_flags_of(w.context).output.above_watermark = true;
    BOOST_TEST(!w.context.holds_input());
  }
}
