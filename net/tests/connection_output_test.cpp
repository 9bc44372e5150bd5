// SPDX-License-Identifier: BSL-1.0
// connection_output_test: the order of bytes on their way to the kernel, and who is told that they have left.
#include <quintet/net/connection/connection_extras.hpp>

#include "output_world.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <stdexcept>

using namespace quintet;
using namespace quintet::detail;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

// ---- The order of bytes ---------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_batch_leaves_in_one_send_and_needs_no_extras) {
  output_world w;
  w.batch([&] {
    w.write("one ");
    w.write("two");
  });
  BOOST_TEST(w.wire.sent == "one two");
  BOOST_TEST(w.wire.offered.size() == 1U);
  BOOST_TEST(w.c.is_idle());
  BOOST_TEST(!w.c.extras_);
  BOOST_TEST(!w.c.baton_extras_);
  BOOST_TEST(w.part.written() == 0U);
}

BOOST_AUTO_TEST_CASE(a_reply_of_16_kib_leaves_in_one_piece_with_its_header) {
  output_world w;
  w.batch([&] {
    w.write(std::string(500, 'h'));
    w.write(std::string(16 * 1024, 'x'));
    BOOST_TEST(!w.c.baton_flags().output.checks_writes);  // else it takes the slow path
  });
  BOOST_TEST(w.wire.offered.size() == 1U);
  BOOST_TEST(w.wire.sent.size() == 500U + 16 * 1024);
}

BOOST_AUTO_TEST_CASE(what_a_short_send_leaves_waits_for_the_kernel) {
  output_world w;
  w.wire.answers = {{3}, {2}, {0}};
  w.batch_of("abcdefgh");
  BOOST_TEST(w.wire.sent == "abc");
  BOOST_TEST(w.is_queued());
  BOOST_TEST(w.part.queue_size() == 5U);
  w.sendable();
  BOOST_TEST(w.wire.sent == "abcde");
  w.sendable();
  BOOST_TEST(w.wire.sent == "abcde");
  BOOST_TEST(w.is_queued());
  w.sendable();
  BOOST_TEST(w.wire.sent == "abcdefgh");
  BOOST_TEST(!w.is_queued());
  BOOST_TEST(w.c.is_idle());
}

BOOST_AUTO_TEST_CASE(queued_bytes_leave_before_those_of_the_next_batch) {
  output_world w;
  w.wire.answers = {{1}};
  w.batch_of("first");
  w.batch_of(" second");
  BOOST_TEST(w.wire.offered.size() == 1U);  // the kernel is full, and has not said that it takes more
  w.sendable();
  BOOST_TEST(w.wire.sent == "first second");
}

BOOST_AUTO_TEST_CASE(bytes_from_outside_come_before_the_batch_that_is_being_written) {
  output_world w;
  w.batch([&] {
    w.write("batch");
    w.note(w.part.send_message(w.c, shared("message ")));
    BOOST_TEST(w.wire.sent == "");  // small messages leave together
  });
  BOOST_TEST(w.wire.sent == "message batch");
}

BOOST_AUTO_TEST_CASE(small_messages_of_one_turn_leave_in_one_send) {
  output_world w;
  w.turn([&] {
    for (const char* text : {"a", "b", "c"}) w.note(w.part.send_message(w.c, shared(text)));
    BOOST_TEST(w.wire.offered.empty());
  });
  BOOST_TEST(w.wire.sent == "abc");
  BOOST_TEST(w.wire.offered.size() == 1U);
  BOOST_TEST(w.c.turns_ended == 1);
}

BOOST_AUTO_TEST_CASE(a_large_message_leaves_at_once_and_its_rest_is_not_copied) {
  output_world w;
  const shared_bytes data = shared(std::string(100'000, 'x'));
  w.wire.answers = {{1000}};
  w.turn([&] {
    w.note(w.part.send_message(w.c, data));
    BOOST_TEST(w.wire.sent.size() == 1000U);
  });
  BOOST_TEST(data.use_count() == 2);
  BOOST_TEST(w.part.queue_size() == 99'000);
  w.sendable();
  BOOST_TEST(w.wire.sent == *data);
  BOOST_TEST(data.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(an_urgent_answer_leaves_at_once_unless_output_waits) {
  output_world w;
  w.turn([&] {
    w.note(w.part.send_beside(w.c, "pong"));
    BOOST_TEST(w.wire.sent == "pong");
  });
  w.wire.answers = {{0}};
  w.batch_of("reply");
  w.turn([&] { w.note(w.part.send_beside(w.c, "pong")); });
  BOOST_TEST(w.wire.sent == "pong");
  w.sendable();
  BOOST_TEST(w.wire.sent == "pongreplypong");
}

BOOST_AUTO_TEST_CASE(an_early_send_takes_what_is_written_and_a_cork_keeps_it) {
  output_world w;
  w.batch([&] {
    w.write("a");
    connection_output::cork(w.c);
    connection_output::cork(w.c);
    BOOST_TEST(!w.send_early());
    BOOST_TEST(!connection_output::uncork(w.c));
    BOOST_TEST(!w.send_early());
    BOOST_TEST(connection_output::uncork(w.c));
    BOOST_TEST(w.send_early());
    BOOST_TEST(w.wire.sent == "a");
    BOOST_TEST(!w.send_early());  // nothing is written
    w.write("b");
  });
  BOOST_TEST(w.wire.sent == "ab");
  w.block();
  w.batch_of("c");
  w.batch([&] {
    w.write("d");
    BOOST_TEST(w.send_early());  // it joins the queue
    BOOST_TEST(w.part.written() == 0U);
    BOOST_TEST(w.part.queue_size() == 2U);
  });
}

BOOST_AUTO_TEST_CASE(a_broken_stream_is_told_and_nothing_is_sent_twice) {
  output_world w;
  w.wire.answers = {{0, EPIPE}};
  w.batch_of("lost");
  BOOST_TEST(w.broken == error_code(EPIPE, boost::system::system_category()));
  output_world q;
  q.wire.answers = {{2}, {0, ECONNRESET}};
  q.batch_of("abcd");
  q.sendable();
  BOOST_TEST(q.broken == error_code(ECONNRESET, boost::system::system_category()));
  BOOST_TEST(q.wire.sent == "ab");
}

// ---- Notices --------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(notices_are_told_once_in_order_when_their_bytes_have_left) {
  output_world w;
  using entries = std::vector<std::pair<int, error_code>>;
  w.wire.answers = {{3}};
  w.batch([&] {
    w.when_sent(0);  // after nothing
    w.write("abc");
    w.when_sent(1);
    w.write("def");
    w.when_sent(2);
    w.when_sent(3);
    BOOST_TEST(w.told.empty());  // never within a batch
  });
  BOOST_TEST((w.told == entries{{0, {}}, {1, {}}}));
  w.wire.answers = {{2}};
  w.sendable();
  BOOST_TEST(w.told.size() == 2U);
  w.sendable();
  BOOST_TEST((w.told == entries{{0, {}}, {1, {}}, {2, {}}, {3, {}}}));
  w.turn([&] { connection_output::call_all_notices(w.c, errc::end_of_stream); });
  BOOST_TEST(w.told.size() == 4U);
}

BOOST_AUTO_TEST_CASE(at_the_end_notices_of_queue_and_builder_are_told_why) {
  output_world w;
  using entries = std::vector<std::pair<int, error_code>>;
  const error_code why = errc::aborted;
  w.block();
  w.batch([&] {
    w.write("queued");
    w.when_sent(1);
  });
  w.turn([&] {
    BOOST_TEST(w.part.prepare_to_hand_off(w.c));
    w.write("built");
    w.when_sent(2);
    loop_flags_of(w.c).phase = connection_phase::ended;
    w.part.drop_queue(w.c);
    w.part.drop_builder(w.c);
    connection_output::call_all_notices(w.c, why);
    connection_output::call_all_notices(w.c, why);
  });
  BOOST_TEST((w.told == entries{{1, why}, {2, why}}));
}

BOOST_AUTO_TEST_CASE(a_notice_that_throws_is_counted_and_the_others_are_told) {
  output_world w;
  w.batch([&] {
    auto fail = [](error_code) { throw std::runtime_error("notice"); };
    w.write("a");
    w.part.add_notice(w.c, std::make_unique<send_notice_of<decltype(fail)>>(fail));
    w.when_sent(1);
  });
  BOOST_TEST(w.loop.counters().handler_errors.value() == 1U);
  BOOST_TEST(w.told.size() == 1U);
}

// ---- Quiescence -----------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(each_fact_alone_ends_quiescence) {
  const std::array<void (*)(output_world&), 6> facts{
      [](output_world& w) { loop_flags_of(w.c).output.is_queued = true; },
      [](output_world& w) { loop_flags_of(w.c).output.above_watermark = true; },
      [](output_world& w) { loop_flags_of(w.c).output.send_shut = true; },
      [](output_world& w) { baton_flags_of(w.c).output.shutdown_requested = true; },
      [](output_world& w) { w.note(w.part.send_message(w.c, shared("at the end of the turn"))); },
      [](output_world& w) { connection_output::wait_for_room(w.c); },
  };
  for (const auto fact : facts) {
    output_world w;
    BOOST_TEST(w.c.make_extras());
    w.turn([&] {
      BOOST_TEST(w.part.is_quiescent(w.c));
      fact(w);
      BOOST_TEST(!w.part.is_quiescent(w.c));
    });
  }
}

// ---- Sequences ------------------------------------------------------------------------------------------------------

// What goes in comes out, in order and once, however the kernel takes it; and the budget and the watermark follow.
BOOST_DATA_TEST_CASE(all_bytes_leave_in_their_order, bdata::xrange(20U)) {
  output_world w({.high_watermark = 30'000, .low_watermark = 10'000});
  random_choice random(sample);
  std::string expected;
  bool above = false;
  int asked = 0;
  const auto some = [&] { return random.text(1 + random.upto(random.one_in(5) ? 40'000 : 500)); };
  for (int i = 0; i < 100; ++i) {
    for (std::size_t n = random.upto(2); n > 0; --n) w.wire.answers.push_back({random.upto(20'000)});
    switch (random.upto(3)) {
      case 0:
        w.batch([&] {
          std::string written;
          for (std::size_t n = random.upto(4); n > 0; --n) {
            const std::string text = some();
            written += text;
            if (w.part.may_keep_reference() && text.size() >= connection_limits().merge_threshold && random.one_in(2)) {
              if (w.part.check_write(w.c, text.size()) == write_verdict::accepted) w.part.append(w.c, shared(text));
            } else {
              BOOST_TEST(w.write(text) == write_verdict::accepted);
            }
            if (random.one_in(4)) w.when_sent(asked++);
            if (random.one_in(4) && w.send_early()) expected += std::exchange(written, {});
          }
          expected += written;
        });
        break;
      case 1: {
        const std::string text = some();
        w.message(shared(text));
        expected += text;
        break;
      }
      default:
        if (w.is_queued()) w.sendable();
    }
    BOOST_TEST_REQUIRE(!w.broken);
    BOOST_TEST_REQUIRE(bytes(w.wire.sent) == bytes(expected).substr(0, w.wire.sent.size()));
    BOOST_TEST_REQUIRE(w.wire.sent.size() + w.part.queue_size() == expected.size());
    BOOST_TEST_REQUIRE(w.is_queued() == (w.part.queue_size() > 0));
    if (w.part.queue_size() > 30'000) above = true;
    if (w.part.queue_size() <= 10'000) above = false;
    BOOST_TEST_REQUIRE(w.is_above() == above);
  }
  w.wire.answers.clear();
  w.sendable();
  BOOST_TEST(w.wire.sent == expected);
  BOOST_TEST(w.host.output.used() == 0U);
  BOOST_TEST(w.told.size() == static_cast<std::size_t>(asked));
  for (int n = 0; const auto& [number, why] : w.told) BOOST_TEST((number == n++ && !why));
}
