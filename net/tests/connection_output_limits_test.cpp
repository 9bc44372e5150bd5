// SPDX-License-Identifier: BSL-1.0
// connection_output_limits_test: write_verdict of writes by the limits, the server's budget, and the watermarks.
#include <quintet/net/connection/connection_extras.hpp>

#include "output_world.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

using namespace quintet;
using namespace quintet::detail;
using namespace quintet::testing;

namespace {

/// Returns limits so small that every write is checked.
connection_limits low(overflow_policy policy) {
  return {.max_output = 1000, .high_watermark = 100, .low_watermark = 50, .overflow = policy};
}

}  // namespace

// ---- Admission ------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(nothing_is_admitted_after_the_half_close) {
  output_world w;
  connection_output::refuse_writes(w.c);
  w.batch([&] { BOOST_TEST(w.write("late") == write_verdict::rejected); });
  BOOST_TEST(w.wire.sent == "");
  BOOST_TEST(!w.overflowed());
}

BOOST_AUTO_TEST_CASE(above_the_watermark_pause_and_close_admit_up_to_the_most) {
  for (const overflow_policy policy : {overflow_policy::pause, overflow_policy::close}) {
    output_world w(low(policy));
    w.batch([&] {
      BOOST_TEST(w.write(std::string(101, 'a')) == write_verdict::accepted);
      BOOST_TEST(w.write(std::string(899, 'b')) == write_verdict::accepted);
      BOOST_TEST(!w.overflowed());
      BOOST_TEST(w.write("c") == write_verdict::rejected);
      BOOST_TEST(w.overflowed());
    });
    BOOST_TEST(w.wire.sent.size() == 1000U);
  }
}

BOOST_AUTO_TEST_CASE(above_the_watermark_drop_drops_and_error_refuses_and_neither_overflows) {
  for (const overflow_policy policy : {overflow_policy::drop, overflow_policy::error}) {
    output_world w(low(policy));
    const bool drops = policy == overflow_policy::drop;
    w.batch([&] {
      BOOST_TEST(w.write(std::string(101, 'a')) == write_verdict::accepted);  // was not above the watermark before
      for (int i = 0; i < 2; ++i)
        BOOST_TEST(w.write("b") == (drops ? write_verdict::dropped : write_verdict::rejected));
      BOOST_TEST(!w.overflowed());
      BOOST_TEST(bool(w.c.baton_flags().core.has_changes) == drops);
      BOOST_TEST((w.c.baton_extras_ ? w.c.baton_extras_->counts.dropped : 0U) == (drops ? 2U : 0U));
    });
    BOOST_TEST(w.wire.sent == std::string(101, 'a'));
  }
}

BOOST_AUTO_TEST_CASE(what_is_queued_counts_when_more_is_written) {
  output_world w(low(overflow_policy::error));
  w.block();
  w.batch_of(std::string(101, 'a'));
  w.batch([&] { BOOST_TEST(w.write("b") == write_verdict::rejected); });
  BOOST_TEST(w.part.queue_size() == 101U);
}

BOOST_AUTO_TEST_CASE(the_policy_close_closes_as_soon_as_the_peer_does_not_take_it) {
  output_world w(low(overflow_policy::close));
  w.batch_of(std::string(200, 'a'));
  BOOST_TEST(!w.broken);
  w.block();
  w.batch_of(std::string(100, 'b'));
  BOOST_TEST(!w.broken);
  w.batch_of("c");
  BOOST_TEST(w.broken == error_code(errc::output_full));
}

BOOST_AUTO_TEST_CASE(messages_are_dropped_above_the_watermark_by_two_policies) {
  for (const overflow_policy policy : {overflow_policy::pause, overflow_policy::drop, overflow_policy::error}) {
    output_world w(low(policy));
    w.block();
    w.batch_of(std::string(101, 'a'));
    w.message(shared("news"));
    BOOST_TEST(w.part.queue_size() == (policy == overflow_policy::pause ? 105U : 101U));
    BOOST_TEST(w.loop.counters().dropped.value() == (policy == overflow_policy::pause ? 0U : 1U));
  }
}

BOOST_AUTO_TEST_CASE(messages_are_bounded_by_the_most) {
  output_world w(low(overflow_policy::pause));
  w.block();
  w.message(shared(std::string(1000, 'a')));
  BOOST_TEST(!w.broken);
  w.message(shared("b"));
  BOOST_TEST(w.broken == error_code(errc::output_overflow));
}

BOOST_AUTO_TEST_CASE(a_connection_that_sends_no_more_takes_no_messages) {
  const std::array<void (*)(part_context&), 5> ends{
      [](part_context& c) { loop_flags_of(c).phase = connection_phase::ended; },
      [](part_context& c) { loop_flags_of(c).phase = connection_phase::lingering; },
      [](part_context& c) { loop_flags_of(c).phase = connection_phase::closing; },
      [](part_context& c) { loop_flags_of(c).output.send_shut = true; },
      [](part_context& c) { baton_flags_of(c).output.shutdown_requested = true; },
  };
  for (const auto end : ends) {
    output_world w;
    BOOST_TEST(w.part.urgent_room(w.c) > 0U);
    end(w.c);
    BOOST_TEST(w.part.urgent_room(w.c) == 0U);
    w.message(shared("late"));
    BOOST_TEST(w.wire.sent == "");
  }
}

// ---- The server's budget --------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_budget_does_not_know_of_what_is_short_and_sent) {
  output_world w(low(overflow_policy::pause));
  w.batch([&] {
    w.write(std::string(100, 'a'));
    BOOST_TEST(w.host.output.used() == 0U);
    w.write("b");
    BOOST_TEST(w.host.output.used() == 101U);
  });
  BOOST_TEST(w.host.output.used() == 0U);
}

BOOST_AUTO_TEST_CASE(a_charge_moves_from_the_builder_to_the_queue_and_ends_with_it) {
  output_world w(low(overflow_policy::pause));
  w.block();
  w.batch_of(std::string(200, 'a'));
  BOOST_TEST(w.host.output.used() == 200U);
  w.batch_of(std::string(50, 'b'));
  BOOST_TEST(w.host.output.used() == 250U);
  w.unblock(120);
  w.sendable();
  BOOST_TEST(w.host.output.used() == 130U);
  w.unblock();
  w.sendable();
  BOOST_TEST(w.host.output.used() == 0U);
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_used_up_refuses) {
  output_world w(low(overflow_policy::pause), {.max_output_total = 400});
  w.batch([&] {
    BOOST_TEST(w.write(std::string(400, 'a')) == write_verdict::accepted);
    BOOST_TEST(w.write("b") == write_verdict::rejected);
    BOOST_TEST(w.overflowed());
    w.part.drop_builder(w.c);
  });
  BOOST_TEST(w.host.output.used() == 0U);
}

BOOST_AUTO_TEST_CASE(a_queue_above_the_budget_ends_the_connection) {
  output_world w({}, {.max_output_total = 400});
  w.block();
  w.batch_of(std::string(401, 'a'));
  BOOST_TEST(w.broken == error_code(errc::output_overflow));
}

BOOST_AUTO_TEST_CASE(at_the_end_the_budget_gets_everything_back) {
  output_world w(low(overflow_policy::pause));
  w.block();
  w.batch_of(std::string(200, 'a'));
  w.turn([&] {
    BOOST_TEST(w.part.prepare_to_hand_off(w.c));
    w.write(std::string(150, 'b'));
    BOOST_TEST(w.host.output.used() == 350U);
    BOOST_TEST(w.is_above());
    w.part.drop_queue(w.c);
    BOOST_TEST(bool(w.c.loop_flags().output.partial_message));
    BOOST_TEST(w.host.output.used() == 150U);
    BOOST_TEST(!w.is_above());
    w.part.drop_queue(w.c);
    w.part.drop_builder(w.c);
    BOOST_TEST(w.host.output.used() == 0U);
    w.part.drop_builder(w.c);
    w.part.release(w.c);
  });
  BOOST_TEST(w.host.output.used() == 0U);
  BOOST_TEST(w.part.queue_size() == 0U);
  BOOST_TEST(w.part.written() == 0U);
}

// ---- Watermarks -----------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_watermarks_are_crossed_once_each_way) {
  output_world w(low(overflow_policy::pause));
  std::vector<bool> above;
  const auto look = [&] {
    const bool now = w.is_above();
    if (above.empty() || above.back() != now) above.push_back(now);
  };
  look();
  w.block();
  for (int i = 0; i < 5; ++i, look()) w.batch_of(std::string(50, 'a'));  // queue: 250
  const std::array<std::size_t, 4> takes{149, 1, 50, 0};                 // queue: 101, 100, 50
  BOOST_TEST(w.c.output_holds_input());
  for (const std::size_t n : takes) {
    w.wire.answers = {{n}};
    w.sendable();
    BOOST_TEST(w.is_above() == (w.part.queue_size() > 50));
    look();
  }
  w.batch_of(std::string(50, 'a'));  // queue: 100
  look();
  BOOST_TEST((above == std::vector{false, true, false}));
}

BOOST_AUTO_TEST_CASE(other_watermarks_are_looked_at_without_a_send) {
  output_world w(low(overflow_policy::pause));
  w.block();
  w.batch_of(std::string(90, 'a'));
  BOOST_TEST(!w.is_above());
  w.c.own_ = std::make_unique<connection_settings>();
  w.c.own_->limits = {.high_watermark = 80, .low_watermark = 10};
  w.turn([&] { w.note(w.part.watch_watermarks(w.c)); });
  BOOST_TEST(w.is_above());
}
