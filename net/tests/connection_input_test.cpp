// SPDX-License-Identifier: BSL-1.0
// connection_input_test: the order of lent, unread and pending bytes, when the engine reads, and what is charged.
#include <quintet/net/connection/connection_extras.hpp>
#include <quintet/net/connection/connection_input.hpp>

#include "part_world.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>

using namespace quintet;
using namespace quintet::detail;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

constexpr std::size_t kib = 1024;

/// The part, and what a connection does with it.
struct input_world : part_world {
  using part_world::part_world;

  /// The engine has received something, and the handler is given it at once.
  void lend(bytes arrived) { BOOST_TEST(!part.take(c, arrived)); }
  /// The handler uses so much of what it is shown. Returns what it was shown.
  std::string use(std::size_t count) {
    const bytes shown = part.batch(c);
    std::string text(shown);
    part.use(c, shown, count);
    BOOST_TEST(!part.end_batch(c));
    return text;
  }
  /// The handler uses a part of what it is shown. Returns that part.
  std::string use_some(random_choice& random) {
    const std::size_t count = random.upto(part.batch(c).size());
    return use(count).substr(0, count);
  }
  [[nodiscard]] std::string unread() { return std::string(part.peek()); }
  [[nodiscard]] bool has_unread() const { return baton_flags_of(c).input.has_unread; }
  [[nodiscard]] bool has_pending() const { return loop_flags_of(c).input.has_pending; }
  void require(std::size_t size) { connection_input::require(c, size); }

  part_context& c = context;
  connection_input part;
};

}  // namespace

// ---- Lent and unread ------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(lent_input_that_is_used_up_leaves_nothing) {
  input_world w;
  w.lend("abc");
  BOOST_TEST(w.use(3) == "abc");
  BOOST_TEST(w.part.unread() == 0U);
  BOOST_TEST(!w.has_unread());
  BOOST_TEST(w.c.is_idle());
}

BOOST_AUTO_TEST_CASE(what_is_left_of_lent_input_is_kept_and_more_comes_behind_it) {
  input_world w;
  w.lend("abcdef");
  BOOST_TEST(w.use(2) == "abcdef");
  BOOST_TEST(w.has_unread());
  BOOST_TEST(w.unread() == "cdef");
  BOOST_TEST(!w.part.append(w.c, "ghi"));
  BOOST_TEST(w.use(5) == "cdefghi");
  BOOST_TEST(w.unread() == "hi");
  BOOST_TEST(w.has_unread());
  BOOST_TEST(w.use(2) == "hi");
  BOOST_TEST(!w.has_unread());
  BOOST_TEST(w.part.unread() == 0U);
}

BOOST_AUTO_TEST_CASE(more_than_there_is_cannot_be_used) {
  input_world w;
  w.lend("abc");
  w.use(100);
  BOOST_TEST(!w.has_unread());
  BOOST_TEST(!w.part.append(w.c, "def"));
  w.use(100);
  BOOST_TEST(!w.has_unread());
  BOOST_TEST(w.part.size() == 0U);
}

BOOST_AUTO_TEST_CASE(before_another_thread_has_the_batch_lent_input_becomes_the_own) {
  input_world w;
  std::string engines = "abc";
  w.lend(engines);
  BOOST_TEST(!w.part.keep_lent(w.c));
  engines = "xyz";
  BOOST_TEST(!w.c.baton_flags().input.is_lent);
  BOOST_TEST(w.use(1) == "abc");
  BOOST_TEST(w.unread() == "bc");
  BOOST_TEST(!w.part.keep_lent(w.c));  // nothing is lent
  BOOST_TEST(w.unread() == "bc");
}

// ---- Pending --------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(pending_input_comes_behind_unread_input) {
  input_world w;
  BOOST_TEST(!w.part.append(w.c, "ab"));
  BOOST_TEST(!w.part.append_pending(w.c, "cd"));
  BOOST_TEST(!w.part.append_pending(w.c, "ef"));
  BOOST_TEST(w.has_pending());
  BOOST_TEST(w.unread() == "ab");
  BOOST_TEST(w.part.size() == 6U);
  BOOST_TEST(!w.part.absorb_pending(w.c));
  BOOST_TEST(!w.has_pending());
  BOOST_TEST(w.unread() == "abcdef");
  BOOST_TEST(!w.part.append_pending(w.c, "gh"));
  BOOST_TEST(w.use(6) == "abcdef");
  BOOST_TEST(!w.part.absorb_pending(w.c));
  BOOST_TEST(w.has_unread());  // else the end of a batch would drop it
  BOOST_TEST(w.unread() == "gh");
}

BOOST_AUTO_TEST_CASE(unread_input_can_become_pending_as_if_nobody_had_seen_it) {
  input_world w;
  BOOST_TEST(!w.part.append(w.c, "abc"));
  w.part.make_pending(w.c);
  BOOST_TEST(!w.has_unread());
  BOOST_TEST(w.has_pending());
  BOOST_TEST(w.part.unread() == 0U);
  BOOST_TEST(!w.part.append_pending(w.c, "d"));
  BOOST_TEST(!w.part.absorb_pending(w.c));
  BOOST_TEST(w.unread() == "abcd");
}

BOOST_AUTO_TEST_CASE(dropped_pending_input_is_not_seen_again) {
  input_world w;
  BOOST_TEST(!w.part.append_pending(w.c, "abc"));
  w.part.drop_pending(w.c);
  BOOST_TEST(!w.has_pending());
  BOOST_TEST(!w.part.absorb_pending(w.c));
  BOOST_TEST(w.unread() == "");
}

BOOST_AUTO_TEST_CASE(at_the_limit_reading_stops_once_and_resumes_once) {
  input_world w;
  const std::string most(connection_input::waiting_limit - 1, 'x');
  BOOST_TEST(!w.part.append_pending(w.c, most));
  BOOST_TEST(w.wire.reading.empty());
  BOOST_TEST(!w.part.append_pending(w.c, "y"));
  BOOST_TEST(!w.part.append_pending(w.c, "z"));
  BOOST_TEST((w.wire.reading == std::vector{false}));
  BOOST_TEST(!w.part.absorb_pending(w.c));
  BOOST_TEST(!w.part.update_reading(w.c));
  BOOST_TEST((w.wire.reading == std::vector{false, true}));
  BOOST_TEST(w.unread() == most + "yz");
}

// ---- Reading --------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_handler_that_pauses_stops_reading_until_it_resumes) {
  input_world w;
  BOOST_TEST(!w.part.append_pending(w.c, "x"));
  baton_flags_of(w.c).input.paused = true;
  BOOST_TEST(!w.part.update_reading(w.c));
  BOOST_TEST(!w.part.absorb_pending(w.c));
  BOOST_TEST((w.wire.reading == std::vector{false}));
  baton_flags_of(w.c).input.paused = false;
  BOOST_TEST(!w.part.update_reading(w.c));
  BOOST_TEST((w.wire.reading == std::vector{false, true}));
}

BOOST_AUTO_TEST_CASE(it_reads_again_when_the_last_full_connection_is_not_full_any_more) {
  input_world w;
  BOOST_TEST(w.c.make_extras());
  const auto throttle = [&](int change) {
    connection_input::throttle(w.c, change);
    BOOST_TEST(!w.part.update_reading(w.c));
  };
  throttle(1);
  throttle(1);
  throttle(-1);
  BOOST_TEST(bool(loop_flags_of(w.c).input.throttled));
  BOOST_TEST((w.wire.reading == std::vector{false}));
  throttle(-1);
  BOOST_TEST(!loop_flags_of(w.c).input.throttled);
  BOOST_TEST((w.wire.reading == std::vector{false, true}));
}

BOOST_AUTO_TEST_CASE(a_connection_that_lingers_reads_whatever_else_there_is) {
  input_world w;
  loop_flags_of(w.c).input.throttled = true;
  BOOST_TEST(w.part.must_change_reading(w.c));
  loop_flags_of(w.c).phase = connection_phase::lingering;
  BOOST_TEST(!w.part.must_change_reading(w.c));
}

BOOST_AUTO_TEST_CASE(after_the_end_the_engine_is_not_asked_to_read) {
  for (const bool by_peer : {true, false}) {
    input_world w;
    if (by_peer)
      loop_flags_of(w.c).input.peer_ended = true;
    else
      loop_flags_of(w.c).phase = connection_phase::ended;
    BOOST_TEST(!w.part.update_reading(w.c));
    BOOST_TEST(w.wire.reading.empty());
  }
}

// ---- What the handler requires --------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(what_is_required_is_bounded_by_the_largest_message) {
  input_world w({.max_input = 100});
  BOOST_TEST(connection_input::required(w.c) == 0U);
  w.require(100);
  BOOST_TEST(connection_input::required(w.c) == 100U);
  w.require(1000);  // never that long: then the connection ends
  BOOST_TEST(connection_input::required(w.c) == 101U);
  baton_flags_of(w.c).input.requires_more = false;
  BOOST_TEST(connection_input::required(w.c) == 0U);
}

BOOST_AUTO_TEST_CASE(input_is_shown_when_it_is_as_long_as_required) {
  input_world w;
  BOOST_TEST(!w.part.append(w.c, "abc"));
  BOOST_TEST(!w.part.requires_more(w.c));
  w.require(5);
  BOOST_TEST(w.part.requires_more(w.c));
  BOOST_TEST(!w.part.append(w.c, "d"));
  BOOST_TEST(w.part.requires_more(w.c));
  BOOST_TEST(!w.part.append(w.c, "e"));
  BOOST_TEST(!w.part.requires_more(w.c));
  BOOST_TEST(w.unread() == "abcde");
}

BOOST_AUTO_TEST_CASE(the_engine_may_receive_in_place_only_when_a_message_has_begun) {
  input_world w;
  w.require(1000 * kib);
  BOOST_TEST(w.part.receive_space(w.c).empty());  // no memory before the first byte
  BOOST_TEST(!w.part.append(w.c, "head"));
  w.require(1000 * kib);
  const std::span<char> space = w.part.receive_space(w.c);
  BOOST_TEST_REQUIRE(space.size() > 4U);
  BOOST_TEST(space.size() <= 1000 * kib - 4);
  std::ranges::copy(std::string_view("body"), space.begin());
  w.part.received_in_place(4);
  BOOST_TEST(w.unread() == "headbody");
}

BOOST_AUTO_TEST_CASE(there_is_no_more_space_than_what_is_missing) {
  input_world w;
  BOOST_TEST(!w.part.append(w.c, "abc"));
  w.require(10);
  BOOST_TEST(w.part.receive_space(w.c).size() == 7U);
  BOOST_TEST(!w.part.append(w.c, "defghij"));
  BOOST_TEST(w.part.receive_space(w.c).empty());
}

BOOST_AUTO_TEST_CASE(each_obstacle_alone_keeps_the_engine_from_receiving_in_place) {
  const std::array<void (*)(part_context&), 7> obstacles{
      [](part_context& c) { loop_flags_of(c).handoff.baton_out = true; },
      [](part_context& c) { loop_flags_of(c).input.has_pending = true; },
      [](part_context& c) { loop_flags_of(c).phase = connection_phase::draining; },
      [](part_context& c) { baton_flags_of(c).input.requires_more = false; },
      [](part_context& c) { baton_flags_of(c).input.paused = true; },
      [](part_context& c) { loop_flags_of(c).input.throttled = true; },
      [](part_context& c) { baton_flags_of(c).output.wants_writable = true; },
  };
  for (const auto obstacle : obstacles) {
    input_world w;
    BOOST_TEST(!w.part.append(w.c, "abc"));
    w.require(100 * kib);
    BOOST_TEST(!w.part.receive_space(w.c).empty());
    obstacle(w.c);
    BOOST_TEST(w.part.receive_space(w.c).empty());
  }
}

BOOST_AUTO_TEST_CASE(the_engine_is_asked_to_receive_in_place_where_much_is_missing) {
  input_world w;
  BOOST_TEST(!w.part.append(w.c, "abc"));
  w.part.offer_space(w.c);
  w.require(3 + 16 * kib - 1);
  w.part.offer_space(w.c);
  BOOST_TEST(!scripted_engine::offers_space(w.c));
  w.require(3 + 16 * kib);
  w.part.offer_space(w.c);
  BOOST_TEST(scripted_engine::offers_space(w.c));
}

// ---- The server's budget --------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(only_input_above_the_limit_is_charged) {
  input_world w;
  BOOST_TEST(!w.part.append(w.c, std::string(40 * kib, 'a')));
  BOOST_TEST(!w.part.charge(w.c));
  BOOST_TEST(!w.part.append_pending(w.c, std::string(24 * kib, 'b')));
  BOOST_TEST(!w.part.charge(w.c));
  BOOST_TEST(w.host.input.used() == 0U);
  BOOST_TEST(!w.c.extras_);
  BOOST_TEST(!w.part.append_pending(w.c, "c"));
  BOOST_TEST(!w.part.charge(w.c));
  BOOST_TEST(w.host.input.used() == 64 * kib + 1);
  w.part.consume(w.c, 1);
  BOOST_TEST(!w.part.charge(w.c));
  BOOST_TEST(w.host.input.used() == 0U);
}

BOOST_AUTO_TEST_CASE(what_the_handler_keeps_counts_as_well) {
  input_world w;
  BOOST_TEST(connection_input::count_kept(w.c, 64 * kib));
  BOOST_TEST(!w.c.baton_extras_);  // not worth it
  BOOST_TEST(connection_input::count_kept(w.c, 100 * kib));
  BOOST_TEST(bool(w.c.baton_flags().core.has_changes));
  BOOST_TEST(!w.part.append(w.c, "abc"));
  BOOST_TEST(!w.part.charge(w.c));
  BOOST_TEST(w.host.input.used() == 100 * kib + 3);
  BOOST_TEST(connection_input::count_kept(w.c, 0));
  BOOST_TEST(!w.part.charge(w.c));
  BOOST_TEST(w.host.input.used() == 0U);
}

BOOST_AUTO_TEST_CASE(input_above_the_budget_ends_the_connection_and_goes_back_at_the_end) {
  input_world w({}, {.max_input_total = 100 * kib});
  BOOST_TEST(!w.part.append(w.c, std::string(100 * kib, 'a')));
  BOOST_TEST(!w.part.charge(w.c));
  BOOST_TEST(!w.part.append(w.c, "b"));
  BOOST_TEST(w.part.charge(w.c).code() == error_code(errc::input_overflow));
  connection_input::release_charge(w.c);
  BOOST_TEST(w.host.input.used() == 0U);
  connection_input::release_charge(w.c);
  BOOST_TEST(w.host.input.used() == 0U);
  loop_flags_of(w.c).phase = connection_phase::ended;
  BOOST_TEST(!w.part.charge(w.c));
  BOOST_TEST(w.host.input.used() == 0U);
}

// ---- Migration ------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(all_input_goes_over_to_another_object) {
  input_world from;
  BOOST_TEST(from.c.make_extras());
  input_world to;
  BOOST_TEST(!from.part.append(from.c, "abc"));
  from.require(5);
  baton_flags_of(from.c).input.paused = true;
  BOOST_TEST(!from.part.append_pending(from.c, "def"));
  to.part.take_from(to.c, from.part, from.c);
  BOOST_TEST(from.part.size() == 0U);
  BOOST_TEST(to.unread() == "abc");
  BOOST_TEST(to.has_pending());
  BOOST_TEST(bool(baton_flags_of(to.c).input.paused));
  BOOST_TEST(bool(baton_flags_of(to.c).input.requires_more));
  baton_flags_of(to.c).input.requires_more = false;  // that size goes over with the baton's extras
  BOOST_TEST(!to.part.absorb_pending(to.c));
  BOOST_TEST(to.unread() == "abcdef");
}

// ---- Sequences ------------------------------------------------------------------------------------------------------

// However input arrives, is lent, left, kept and absorbed: the handler uses what has come, in order, and once.
BOOST_DATA_TEST_CASE(all_bytes_are_used_in_their_order, bdata::xrange(20U)) {
  input_world w;
  random_choice random(sample);
  std::string arrived;
  std::string used;
  for (int i = 0; i < 300; ++i) {
    const std::string text = random.text(random.upto(random.one_in(10) ? 30 * kib : 100));
    arrived += text;
    if (w.has_pending() || random.one_in(3)) {
      BOOST_TEST(!w.part.append_pending(w.c, text));
    } else if (w.has_unread()) {
      BOOST_TEST(!w.part.append(w.c, text));
      used += w.use_some(random);
    } else {
      w.lend(text);
      if (random.one_in(3)) BOOST_TEST(!w.part.keep_lent(w.c));
      used += w.use_some(random);
    }
    if (random.one_in(3)) {
      BOOST_TEST(!w.part.absorb_pending(w.c));
      used += w.use_some(random);
    }
    if (random.one_in(5) && !w.has_pending()) w.part.make_pending(w.c);
    BOOST_TEST_REQUIRE(!w.part.end_batch(w.c));
    BOOST_TEST_REQUIRE(used.size() + w.part.size() == arrived.size());
    BOOST_TEST_REQUIRE(bytes(used) == bytes(arrived).substr(0, used.size()));
    BOOST_TEST_REQUIRE(!w.part.charge(w.c));
    const std::size_t size = w.part.size();
    BOOST_TEST_REQUIRE(w.host.input.used() == (size > 64 * kib ? size : 0));
  }
  BOOST_TEST(!w.part.absorb_pending(w.c));
  used += w.use(std::string::npos);
  BOOST_TEST(used == arrived);
  BOOST_TEST((w.wire.reading.empty() || w.wire.reading.back()));
  for (std::size_t i = 0; i < w.wire.reading.size(); ++i) BOOST_TEST(bool(w.wire.reading[i]) == (i % 2 == 1));
}
