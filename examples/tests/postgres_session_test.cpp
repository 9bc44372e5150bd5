// SPDX-License-Identifier: BSL-1.0
// postgres_session_test: sessions of the PostgreSQL server on a network and a clock in memory.
// ctest: LIBS quintet::testing
#include "postgres_world.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace {

namespace bdata = boost::unit_test::data;
using namespace example::test;

const lines end_of_sleep{"T pg_sleep", "D ", "C SELECT 1", "Z I"}, canceled{"T pg_sleep", "E ERROR 57014", "Z I"};

#define CHECK_LINES(...) BOOST_TEST(__VA_ARGS__, boost::test_tools::per_element())

BOOST_DATA_TEST_CASE(a_session_begins_with_a_greeting, bdata::xrange(20), seed) {
  world w(static_cast<std::uint64_t>(seed));
  CHECK_LINES(client(w).greeting() == (lines{"R 0", "K", "Z I"}));
  client c(w, false);
  c.send_raw(std::string("\0\0\0\10\4\322\26\57", 8));  // SSLRequest
  BOOST_TEST(c.receive_raw() == "N");
  c.send_raw(client::startup());
  CHECK_LINES(c.receive() == (lines{"R 0", "K", "Z I"}));
  CHECK_LINES(c.query("select 1") == (lines{"T ?column?", "D 1", "C SELECT 1", "Z I"}));
  c.send('X');
  BOOST_TEST(c.at_end());
}

BOOST_DATA_TEST_CASE(statements_are_answered, bdata::xrange(10), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client c(w);
  CHECK_LINES(c.query("insert into kv values (1, 'one'); insert into kv values (2, 'two')") ==
              (lines{"C INSERT 0 1", "C INSERT 0 1", "Z I"}));
  CHECK_LINES(c.query("select * from kv") == (lines{"T k v", "D 1 one", "D 2 two", "C SELECT 2", "Z I"}));
  CHECK_LINES(c.query("select v from kv where k = 3") == (lines{"T v", "C SELECT 0", "Z I"}));
  CHECK_LINES(c.query("update kv set v = 'uno' where k = 1; select v from kv where k = 1") ==
              (lines{"C UPDATE 1", "T v", "D uno", "C SELECT 1", "Z I"}));
  CHECK_LINES(c.query("select sum(g) from generate_series(1, 3000000) g") ==
              (lines{"T sum", "D 4500001500000", "C SELECT 1", "Z I"}));
  CHECK_LINES(c.query("insert into kv values (null, 'x')") == (lines{"E ERROR 23502", "Z I"}));
  CHECK_LINES(c.query("set application_name = x; show application_name") ==
              (lines{"C SET", "T application_name", "D x", "C SHOW", "Z I"}));
  CHECK_LINES(c.query("show nothing") == (lines{"T nothing", "E ERROR 42704", "Z I"}));
  CHECK_LINES(c.query("select 1; frobnicate") == (lines{"E ERROR 42601", "Z I"}));
  CHECK_LINES(c.query(" ; ") == (lines{"I", "Z I"}));
}

BOOST_AUTO_TEST_CASE(a_failed_transaction_waits_for_its_end) {
  world w(1);
  client c(w);
  CHECK_LINES(c.query("begin") == (lines{"C BEGIN", "Z T"}));
  CHECK_LINES(c.query("insert into kv values (1, 'one')") == (lines{"C INSERT 0 1", "Z T"}));
  CHECK_LINES(c.query("insert into kv values (1, 'one')") == (lines{"E ERROR 23505", "Z E"}));
  CHECK_LINES(c.query("show server_version") == (lines{"T server_version", "E ERROR 25P02", "Z E"}));
  CHECK_LINES(c.query("commit") == (lines{"N WARNING 01000", "C ROLLBACK", "Z I"}));
  CHECK_LINES(c.query("begin; commit") == (lines{"C BEGIN", "C COMMIT", "Z I"}));
}

BOOST_DATA_TEST_CASE(the_extended_protocol_is_answered_in_order, bdata::xrange(10), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client c(w);
  c.parse("", "select $1::int, 'x'");
  c.send('D', 'S', "");
  c.bind("", "", "42");
  c.send('D', 'P', "");
  c.execute("");
  CHECK_LINES(c.sync() ==
              (lines{"1", "t 23", "T ?column? ?column?", "2", "T ?column? ?column?", "D 42 x", "C SELECT 1", "Z I"}));
  c.parse("insertion", "insert into kv values ($1, 'v')");
  c.send('D', 'S', "insertion");
  for (const char* key : {"1", "2"}) c.bind("", "insertion", key), c.execute("");
  CHECK_LINES(c.sync() == (lines{"1", "t 20", "n", "2", "C INSERT 0 1", "2", "C INSERT 0 1", "Z I"}));
  c.parse("", "");
  c.bind("", "");
  c.execute("");
  CHECK_LINES(c.sync() == (lines{"1", "2", "I", "Z I"}));
  c.send('C', 'S', "insertion");
  c.bind("", "insertion", "3");
  CHECK_LINES(c.sync() == (lines{"3", "E ERROR 26000", "Z I"}));
}

BOOST_AUTO_TEST_CASE(after_an_error_everything_is_skipped_until_sync) {
  world w(2);
  client c(w);
  c.parse("", "frobnicate");
  c.bind("", "");
  c.execute("");
  c.send('Q', "select 1");
  CHECK_LINES(c.receive() == (lines{"E ERROR 42601"}));
  CHECK_LINES(c.sync() == (lines{"Z I"}));
  c.parse("p", "select $1::int");
  c.parse("p", "select 2");
  CHECK_LINES(c.sync() == (lines{"1", "E ERROR 42P05", "Z I"}));
  c.bind("", "p", "many");
  CHECK_LINES(c.sync() == (lines{"E ERROR 22P02", "Z I"}));
  c.bind("", "p");
  CHECK_LINES(c.sync() == (lines{"E ERROR 08P01", "Z I"}));
  c.parse("", "select 1; select 2");
  CHECK_LINES(c.sync() == (lines{"E ERROR 42601", "Z I"}));
  c.send('D', 'X', "");
  CHECK_LINES(c.sync() == (lines{"E ERROR 08P01", "Z I"}));
}

BOOST_AUTO_TEST_CASE(what_is_done_is_not_done_again) {
  world w(2);
  client c(w);
  c.parse("", "insert into kv values (1, 'one')");
  c.bind("", "");
  c.execute("");
  c.execute("");
  CHECK_LINES(c.sync() == (lines{"1", "2", "C INSERT 0 1", "E ERROR 55000", "Z I"}));
}

BOOST_AUTO_TEST_CASE(what_a_session_keeps_is_bounded_in_bytes) {
  world w(2);
  client c(w);
  const std::string half_a_megabyte = "select '" + std::string(512 * 1024, 'x') + "'";
  lines last;
  int kept = 0;
  for (; kept < 100 && last.empty(); ++kept) {
    c.parse(std::to_string(kept), half_a_megabyte);
    if (const lines told = c.sync(); told.front() != "1") last = told;
  }
  CHECK_LINES(last == (lines{"E ERROR 53400", "Z I"}));
  BOOST_TEST(kept == 8);
  CHECK_LINES(c.query("deallocate all") == (lines{"C DEALLOCATE", "Z I"}));
  c.parse("again", half_a_megabyte);
  CHECK_LINES(c.sync() == (lines{"1", "Z I"}));
}

BOOST_AUTO_TEST_CASE(a_sum_that_has_no_bigint_is_an_error) {
  world w(2);
  client c(w);
  CHECK_LINES(c.query("select sum(g) from generate_series(9223372036854775806, 9223372036854775807) g") ==
              (lines{"T sum", "E ERROR 22003", "Z I"}));
}

BOOST_DATA_TEST_CASE(a_cursor_moves_on_by_execute, bdata::xrange(10), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client c(w);
  (void)c.query("begin");
  c.parse("", "select g from generate_series(1, 5) g");
  c.bind("cursor", "");
  c.execute("cursor", 2);
  CHECK_LINES(c.sync() == (lines{"1", "2", "D 1", "D 2", "s", "Z T"}));
  c.execute("cursor", 2);
  CHECK_LINES(c.sync() == (lines{"D 3", "D 4", "s", "Z T"}));
  c.execute("cursor", 2);
  CHECK_LINES(c.sync() == (lines{"D 5", "C SELECT 1", "Z T"}));
  (void)c.query("commit");
  c.execute("cursor");
  CHECK_LINES(c.sync() == (lines{"E ERROR 34000", "Z I"}));
}

// The rows exceed max_output, so a session that did not wait for its client would be closed.
BOOST_DATA_TEST_CASE(rows_wait_for_a_client_that_reads_slowly, bdata::xrange(6), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client slow(w), other(w);
  slow.send('Q', "select g from generate_series(1, 20000) g");
  CHECK_LINES(other.query("select 1") == (lines{"T ?column?", "D 1", "C SELECT 1", "Z I"}));
  const lines all = slow.receive(10'000);
  BOOST_REQUIRE_EQUAL(all.size(), 20'003U);
  BOOST_TEST(all[20'000] == "D 20000");
  BOOST_TEST(all[20'001] == "C SELECT 20000");
}

BOOST_DATA_TEST_CASE(a_sleep_ends_at_its_time_or_by_a_cancel, bdata::xrange(10), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client c(w), other(w);
  const std::string sql = "select pg_sleep(2.5)";
  BOOST_TEST(c.query(sql).empty());
  w.sim().advance(2400ms);
  BOOST_TEST(c.receive().empty());
  BOOST_TEST(other.query("select 1").size() == 4U);
  w.sim().advance(200ms);
  CHECK_LINES(c.receive() == end_of_sleep);
  (void)c.query(sql);
  c.cancel(w, true);
  BOOST_TEST(c.receive().empty());
  c.cancel(w);
  CHECK_LINES(c.receive() == canceled);
  c.cancel(w);  // there is nothing to cancel
  (void)c.query(sql);
  w.sim().advance(2600ms);
  CHECK_LINES(c.receive() == end_of_sleep);
}

BOOST_AUTO_TEST_CASE(a_statement_has_a_time_limit) {
  world w(3, [](service& all) { all.statement_timeout = 2s; });
  client c(w);
  (void)c.query("select pg_sleep(100)");
  w.sim().advance(1900ms);
  BOOST_TEST(c.receive().empty());
  w.sim().advance(200ms);
  CHECK_LINES(c.receive() == canceled);
  (void)c.query("set statement_timeout = 100");
  (void)c.query("select pg_sleep(100)");
  w.sim().advance(200ms);
  CHECK_LINES(c.receive() == canceled);
  (void)c.query("set statement_timeout = 0");
  (void)c.query("select pg_sleep(100)");
  w.sim().advance(101s, 1s);
  CHECK_LINES(c.receive() == end_of_sleep);
}

BOOST_DATA_TEST_CASE(a_client_that_leaves_ends_its_statement, bdata::xrange(6), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client c(w);
  (void)c.query("select pg_sleep(100)");
  BOOST_TEST(w.all().sessions == 1U);
  c.close();
  BOOST_TEST(w.all().sessions == 0U);
}

BOOST_AUTO_TEST_CASE(silent_clients_are_told_and_closed) {
  world w(4, [](service& all) { all.idle_timeout = 10s, all.login_timeout = 5s; });
  client silent(w, false), idle(w), busy(w);
  w.sim().advance(4900ms);
  BOOST_TEST(!silent.at_end());
  w.sim().advance(200ms);
  CHECK_LINES(silent.receive() == (lines{"E FATAL 57014"}));
  BOOST_TEST(silent.at_end());
  (void)busy.query("select pg_sleep(20)");
  w.sim().advance(6s);
  CHECK_LINES(idle.receive() == (lines{"E FATAL 57P05"}));
  BOOST_TEST(idle.at_end());
  w.sim().advance(15s);
  CHECK_LINES(busy.receive() == end_of_sleep);
  w.sim().advance(9s);
  BOOST_TEST(!busy.at_end());
}

BOOST_AUTO_TEST_CASE(too_many_clients_are_told) {
  world w(5, [](service& all) { all.max_connections = 1; });
  client first(w), second(w);
  CHECK_LINES(second.greeting() == (lines{"E FATAL 53300"}));
  BOOST_TEST(second.at_end());
  (void)first.query("select pg_sleep(100)");
  first.cancel(w);  // a CancelRequest is no session
  CHECK_LINES(first.receive() == canceled);
  first.close();
  CHECK_LINES(client(w).greeting() == (lines{"R 0", "K", "Z I"}));
}

BOOST_AUTO_TEST_CASE(a_user_has_a_name) {
  world w(5);
  for (const auto& startup : {std::string("\0\0\0\11\0\3\0\0\0", 9), std::string("\0\0\0\17\0\3\0\0user\0\0\0", 15)}) {
    client c(w, false);
    c.send_raw(startup);
    CHECK_LINES(c.receive() == (lines{"E FATAL 28000"}));
    BOOST_TEST(c.at_end());
  }
}

BOOST_DATA_TEST_CASE(a_drain_lets_statements_finish, bdata::xrange(6), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client idle(w), busy(w);
  (void)busy.query("select pg_sleep(5)");
  w.drain();
  CHECK_LINES(idle.receive() == (lines{"E FATAL 57P01"}));
  BOOST_TEST(idle.at_end());
  BOOST_TEST(busy.receive().empty());
  w.sim().advance(5100ms);
  CHECK_LINES(busy.receive() == (lines{"T pg_sleep", "D ", "C SELECT 1", "Z I", "E FATAL 57P01"}));
  w.sim().advance(2s);
  BOOST_TEST(w.has_finished());
}

BOOST_DATA_TEST_CASE(malformed_messages_are_fatal,
                     bdata::make({std::string("Q\0\0\0\3", 5), std::string("Q\x7f\0\0\0", 5),
                                  std::string("B\0\0\0\5x", 6), std::string("Q\0\0\0\6ab", 7),
                                  std::string("\1\0\0\0\4", 5)}),
                     message) {
  world w(6);
  client c(w), other(w), fresh(w, false);
  c.send_raw(message);
  CHECK_LINES(c.receive() == (lines{"E FATAL 08P01"}));
  BOOST_TEST(c.at_end());
  BOOST_TEST(other.query("select 1").size() == 4U);
  fresh.send_raw("GET / HTTP/1.1\r\n\r\n");
  CHECK_LINES(fresh.receive() == (lines{"E FATAL 08P01"}));
}

BOOST_AUTO_TEST_CASE(a_password_is_asked_for) {
  world w(7, [](service& all) {
    all.users.add("ann", "secret");
    all.has_peer_authentication = true;  // for Unix sockets only
  });
  client c(w);
#ifdef QUINTET_EXAMPLE_SCRAM
  CHECK_LINES(c.greeting() == (lines{"R 10"}));
  const std::string first = "n,,n=,r=abc";
  c.send('p', "SCRAM-SHA-256", static_cast<std::int32_t>(first.size() + 1), first);
  CHECK_LINES(c.receive() == (lines{"R 11"}));
  c.send('p', "c=biws,r=abc,p=AAAA");
#else
  CHECK_LINES(c.greeting() == (lines{"R 3"}));
  c.send('p', "Secret");
#endif
  CHECK_LINES(c.receive() == (lines{"E FATAL 28P01"}));
  BOOST_TEST(c.at_end());
  client rude(w);
  rude.send('Q', "select 1");
  CHECK_LINES(rude.receive() == (lines{"E FATAL 08P01"}));
}

}  // namespace
