// SPDX-License-Identifier: BSL-1.0
// next_step_test: which step a connection takes, for each rule, and what holds in all states.
#include <quintet/net/connection/next_step.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <ostream>

using quintet::detail::connection_facts;
using quintet::detail::next_step;
using quintet::detail::step;
namespace bdata = boost::unit_test::data;

namespace {

struct row {
  const char* name;
  connection_facts facts;
  step expected;
};
std::ostream& operator<<(std::ostream& out, const row& r) { return out << r.name; }

// From the first rule to the last; where two rules apply the test says which wins.
constexpr std::array rows{
    row{"nothing is to do", {.may_end = true}, step::wait},
    row{"a close from outside comes before all", {.close_asked = true, .has_messages = true}, step::accept_close},
    row{"closing waits for output", {.closing = true, .output_waits = true}, step::wait},
    row{"closing comes before messages", {.closing = true, .has_messages = true}, step::linger},
    row{"closing looks at no input", {.closing = true, .has_unseen_input = true}, step::linger},
    row{"lingering waits", {.closing = true, .lingering = true, .peer_ended = true, .may_end = true}, step::wait},
    row{"messages come before calls", {.has_messages = true, .has_calls = true}, step::sort_messages},
    row{"calls come before input", {.has_calls = true, .has_unseen_input = true}, step::dispatch_calls},
    row{"calls come although output waits", {.has_calls = true, .output_waits = true}, step::dispatch_calls},
    row{"half-close waits for output", {.output_waits = true, .must_shut_down = true}, step::wait},
    row{"half-close comes before input", {.must_shut_down = true, .has_unseen_input = true}, step::shut_down_send},
    row{"on_writable is scheduled once output is low",
        {.wants_writable = true, .below_low_watermark = true},
        step::schedule_writable},
    row{"on_writable is scheduled once only",
        {.wants_writable = true, .below_low_watermark = true, .is_scheduled = true, .has_unseen_input = true},
        step::wait},
    row{"on_writable waits for output",
        {.output_waits = true, .wants_writable = true, .has_unseen_input = true},
        step::wait},
    row{"back-pressure holds input",
        {.output_waits = true, .output_holds_input = true, .has_unseen_input = true},
        step::wait},
    row{"back-pressure holds the end of input",
        {.output_holds_input = true, .peer_ended = true, .may_end = true},
        step::wait},
    row{"it migrates before it looks at input", {.may_migrate = true, .has_unseen_input = true}, step::migrate},
    row{"TLS begins before messages and input",
        {.has_messages = true, .has_calls = true, .starts_tls = true, .has_unseen_input = true},
        step::start_tls},
    row{"TLS waits for output", {.has_messages = true, .output_waits = true, .starts_tls = true}, step::wait},
    row{"a close comes before TLS", {.closing = true, .starts_tls = true}, step::linger},
    row{"input is delivered before the end of it", {.has_unseen_input = true, .peer_ended = true}, step::deliver_input},
    row{"held input is not delivered", {.has_unseen_input = true, .holds_input = true}, step::wait},
    row{"held input stops reading",
        {.has_unseen_input = true, .holds_input = true, .reading_differs = true},
        step::set_reading},
    row{"reading is set before the drain is over", {.reading_differs = true, .drain_is_over = true}, step::set_reading},
    row{"the drain of a coroutine is an end of input", {.drain_is_over = true, .keeps_baton = true}, step::deliver_end},
    row{"on_drain is called once", {.drain_is_over = true, .on_drain_is_due = true}, step::dispatch_drain},
    row{"a drain without on_drain closes", {.drain_is_over = true}, step::close},
    row{"the drain comes before the peer's end",
        {.drain_is_over = true, .peer_ended = true, .may_end = true},
        step::close},
    row{"a coroutine is told of the end",
        {.peer_ended = true, .may_end = true, .keeps_baton = true},
        step::deliver_end},
    row{"input is delivered before a reset",
        {.has_unseen_input = true, .peer_ended = true, .peer_was_reset = true},
        step::deliver_input},
    row{"held input outlives a reset",
        {.has_unseen_input = true, .holds_input = true, .peer_ended = true, .peer_was_reset = true, .may_end = true},
        step::wait},
    row{"a reset ends a handler that waits for room",
        {.wants_writable = true, .below_low_watermark = true, .peer_ended = true, .peer_was_reset = true},
        step::end},
    row{"a handler that waits for room has its turn before input, also after a reset",
        {.wants_writable = true, .below_low_watermark = true, .has_unseen_input = true, .peer_was_reset = true},
        step::schedule_writable},
    row{"a reset ends a connection that could still send",
        {.output_waits = true, .peer_ended = true, .peer_was_reset = true, .on_read_eof_is_due = true},
        step::end},
    row{"on_read_eof comes before the end",
        {.peer_ended = true, .may_end = true, .on_read_eof_is_due = true},
        step::dispatch_read_eof},
    row{"the end waits for output", {.output_waits = true, .peer_ended = true, .may_end = true}, step::wait},
    row{"a half-open connection stays", {.peer_ended = true}, step::wait},
    row{"both sides have finished", {.peer_ended = true, .may_end = true}, step::end},
};

constexpr unsigned fact_count = 23;

connection_facts facts_of(std::uint32_t number) {
  connection_facts f;
  unsigned bit = 0;
  const auto next = [&] { return (number >> bit++ & 1U) != 0; };
  f.close_asked = next();
  f.closing = next();
  f.lingering = next();
  f.has_messages = next();
  f.has_calls = next();
  f.output_waits = next();
  f.must_shut_down = next();
  f.wants_writable = next();
  f.below_low_watermark = next();
  f.is_scheduled = next();
  f.output_holds_input = next();
  f.may_migrate = next();
  f.starts_tls = next();
  f.has_unseen_input = next();
  f.holds_input = next();
  f.reading_differs = next();
  f.drain_is_over = next();
  f.peer_ended = next();
  f.peer_was_reset = next();
  f.may_end = next();
  f.keeps_baton = next();
  f.on_drain_is_due = next();
  f.on_read_eof_is_due = next();
  return f;
}
static_assert(sizeof(connection_facts) == fact_count, "a fact was added: facts_of() and fact_count have to know it");

bool hands_the_baton_out(step s) {
  return s == step::dispatch_calls || s == step::deliver_input || s == step::deliver_end || s == step::dispatch_drain ||
         s == step::dispatch_read_eof || s == step::start_tls;
}

/// The facts after a step that hands no baton out and does not end the connection.
connection_facts after(step s, connection_facts f) {
  if (s == step::accept_close) f.close_asked = false;
  if (s == step::accept_close || s == step::close) f.closing = true;
  if (s == step::linger) f.lingering = true;
  if (s == step::sort_messages) f.has_messages = false;
  if (s == step::shut_down_send) f.must_shut_down = false;
  if (s == step::schedule_writable) f.is_scheduled = true;
  if (s == step::migrate) f.may_migrate = false;  // it was refused
  if (s == step::set_reading) f.reading_differs = false;
  return f;
}

}  // namespace

BOOST_DATA_TEST_CASE(the_first_rule_that_applies_wins, bdata::make(rows), r) {
  BOOST_TEST((next_step(r.facts) == r.expected));
}

// In each of eight million states; failures are counted, since a check for each would take minutes.
BOOST_AUTO_TEST_CASE(each_state_comes_to_rest) {
  std::uint32_t restless = 0;
  for (std::uint32_t number = 0; number < 1U << fact_count; ++number) {
    connection_facts f = facts_of(number);
    unsigned steps = 0;
    for (step s; (s = next_step(f)) != step::wait && !hands_the_baton_out(s) && s != step::end; f = after(s, f))
      if (++steps > 8) break;
    restless += steps > 8;
  }
  BOOST_TEST(restless == 0U);
}

BOOST_AUTO_TEST_CASE(no_handler_is_called_once_it_closes) {
  std::uint32_t called = 0;
  for (std::uint32_t number = 0; number < 1U << fact_count; ++number) {
    const connection_facts f = facts_of(number);
    if (f.closing || f.close_asked) called += hands_the_baton_out(next_step(f));
  }
  BOOST_TEST(called == 0U);
}

BOOST_AUTO_TEST_CASE(no_input_is_delivered_while_it_is_held_or_output_comes_first) {
  std::uint32_t delivered = 0;
  for (std::uint32_t number = 0; number < 1U << fact_count; ++number) {
    const connection_facts f = facts_of(number);
    if (f.holds_input || f.wants_writable || f.output_holds_input || f.has_messages || f.has_calls)
      delivered += next_step(f) == step::deliver_input;
  }
  BOOST_TEST(delivered == 0U);
}

// Whatever can still happen without an event from outside happens.
BOOST_AUTO_TEST_CASE(it_waits_only_for_events) {
  std::uint32_t idle = 0;
  for (std::uint32_t number = 0; number < 1U << fact_count; ++number) {
    const connection_facts f = facts_of(number);
    if (next_step(f) != step::wait) continue;
    if (!f.closing && !f.close_asked && f.starts_tls && f.output_waits) continue;
    const bool closes = f.closing && (f.output_waits || f.lingering);
    const bool waits_for_room =
        (f.wants_writable && (!f.below_low_watermark || f.is_scheduled)) || f.output_holds_input;
    const bool may_end = f.on_read_eof_is_due || (f.may_end && !f.output_waits);
    const bool is_reset = f.peer_was_reset && f.has_unseen_input;  // until held input can be delivered
    const bool waits_for_peer = !f.may_migrate && !(f.has_unseen_input && !f.holds_input) && !f.reading_differs &&
                                !f.drain_is_over && !(f.peer_ended && !is_reset && (f.keeps_baton || may_end));
    const bool has_work =
        f.close_asked || (!f.closing && (f.has_messages || f.has_calls || (f.must_shut_down && !f.output_waits)));
    idle += has_work || !(closes || waits_for_room || waits_for_peer);
  }
  BOOST_TEST(idle == 0U);
}
