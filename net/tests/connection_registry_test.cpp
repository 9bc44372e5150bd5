// SPDX-License-Identifier: BSL-1.0
// connection_registry_test: sends, calls and closes by connection id, and ids without a connection.
#include "world.hpp"

#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

#include <array>
#include <memory>
#include <stdexcept>

using namespace quintet;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

struct roll {
  std::vector<connection_id> open;
  std::vector<error_code> closed;
};

/// Records its id. Answers "x" by "<x>", and "B" by 200,000 times 'b'.
struct noting {
  roll* who;
  void on_open(connection& c) const { who->open.push_back(c.id()); }
  void operator()(connection& c, bytes in) const {
    if (in == "B") return static_cast<void>(c.write(std::string(200'000, 'b')));
    c.write("<");
    c.write(in);
    c.write(">");
  }
  void on_close(connection&, error_code why) const { who->closed.push_back(why); }
};

/// The same as a coroutine. It writes the long message in parts, and awaits in between.
struct noting_coroutine {
  roll* who;
  awaitable<> operator()(stream& s) const {
    who->open.push_back(s.id());
    while (const auto in = co_await s.read()) {
      if (*in == "B") {
        for (int i = 0; i < 20; ++i) {
          s.write(std::string(10'000, 'b'));
          co_await s.offload([] {});
        }
      } else {
        s.write("<" + std::string(*in) + ">");
      }
    }
  }
};

template <class Handler>
struct fixture {
  explicit fixture(shape s, std::uint64_t seed = 1, const connection_limits& l = {}) : w(seed, s, Handler{&who}, l) {}
  connection_registry& ids() { return w.server->connections(); }
  connection_id open() {
    clients.push_back(w.connect());
    return who.open.back();
  }
  roll who;
  world<Handler> w;
  std::vector<int> clients;
};

shared_bytes shared(const char* text) { return std::make_shared<const std::string>(text); }

}  // namespace

BOOST_DATA_TEST_CASE(bytes_reach_the_connection_that_is_named, bdata::make(shapes), s) {
  fixture<noting> f(s);
  const connection_id first = f.open(), second = f.open();
  BOOST_TEST((first != second));
  BOOST_TEST(!f.ids().send(second, "for two"));
  BOOST_TEST(!f.ids().send(first, "for one"));
  BOOST_TEST(f.w.received(f.clients[0]) == "for one");
  BOOST_TEST(f.w.received(f.clients[1]) == "for two");
  BOOST_TEST(f.ids().size() == 2U);
  BOOST_TEST((f.ids().all().size() == 2U));
}

BOOST_DATA_TEST_CASE(an_id_is_never_used_again, bdata::make(shapes), s) {
  fixture<noting> f(s);
  const connection_id gone = f.open();
  BOOST_TEST(!f.ids().close(gone));
  f.w.sim.advance(std::chrono::seconds(2));
  BOOST_TEST(f.w.ended(f.clients[0]));
  for (int i = 0; i < 20; ++i) f.open();
  BOOST_TEST(f.ids().send(gone, "x") == error_code(errc::no_such_connection));
  BOOST_TEST(f.ids().close(gone) == error_code(errc::no_such_connection));
  bool ran = false;
  BOOST_TEST(f.ids().post(gone, [&](connection&) { ran = true; }) == error_code(errc::no_such_connection));
  BOOST_TEST(f.ids().send({}, "x") == error_code(errc::no_such_connection));
  BOOST_TEST(f.ids().send({3, 999, 1}, "x") == error_code(errc::no_such_connection));
  for (std::size_t i = 1; i < f.clients.size(); ++i) BOOST_TEST(f.w.received(f.clients[i]).empty());
  BOOST_TEST(!ran);
}

BOOST_DATA_TEST_CASE(an_id_of_another_server_names_nothing, bdata::make(shapes), s) {
  fixture<noting> one(s), another(s);
  const connection_id theirs = another.open();
  one.open();
  BOOST_TEST(one.ids().send(theirs, "x") == error_code(errc::no_such_connection));
  BOOST_TEST(one.ids().broadcast(std::array{theirs}, shared("x")) == 0U);
  BOOST_TEST(one.w.received(one.clients[0]).empty());
}

BOOST_DATA_TEST_CASE(a_call_that_finds_its_connection_gone_is_destroyed, bdata::make(shapes), s) {
  fixture<noting> f(s);
  const connection_id id = f.open();
  const auto alive = std::make_shared<int>(0);
  BOOST_TEST(!f.ids().close(id));
  BOOST_TEST(!f.ids().post(id, [alive](connection&) { ++*alive; }));  // the connection still exists at this time
  f.w.sim.advance(std::chrono::seconds(2));
  BOOST_TEST(*alive == 0);
  BOOST_TEST(alive.use_count() == 1);
}

BOOST_DATA_TEST_CASE(what_was_sent_before_a_close_arrives, bdata::make(shapes) * bdata::xrange(1, 20), s, seed) {
  fixture<noting> f(s, static_cast<std::uint64_t>(seed));
  const connection_id id = f.open();
  const auto after = std::make_shared<int>(0);
  f.w.sim.network().send(f.clients[0], "input");  // its batch may be out when the messages come
  BOOST_TEST(!f.ids().post(id, [](connection& c) { c.write("posted"); }));
  BOOST_TEST(!f.ids().send(id, "sent"));
  BOOST_TEST(!f.ids().close(id));
  (void)f.ids().post(id, [after](connection&) { ++*after; });
  const std::string all = f.w.received(f.clients[0]);
  BOOST_TEST(all.find("posted") != std::string::npos);
  BOOST_TEST(all.find("sent") != std::string::npos);
  f.w.sim.advance(std::chrono::seconds(2));
  BOOST_TEST(*after == 0);
  BOOST_TEST(after.use_count() == 1);
  BOOST_TEST((f.who.closed == std::vector<error_code>{error_code()}));
}

BOOST_DATA_TEST_CASE(a_call_runs_with_the_baton, bdata::make(shapes) * bdata::xrange(1, 6), s, seed) {
  fixture<noting> f(s, static_cast<std::uint64_t>(seed));
  const connection_id id = f.open();
  f.w.sim.network().send(f.clients[0], "input");
  for (int i = 0; i < 10; ++i) BOOST_TEST(!f.ids().post(id, [i](connection& c) { c.write(std::to_string(i)); }));
  std::string all = f.w.received(f.clients[0]);
  std::string digits;
  for (const char c : all)
    if (c >= '0' && c <= '9') digits += c;
  BOOST_TEST(digits == "0123456789");  // in the order of posting
}

BOOST_DATA_TEST_CASE(a_call_that_throws_closes_its_connection_only, bdata::make(shapes), s) {
  fixture<noting> f(s);
  const connection_id bad = f.open();
  f.open();
  BOOST_TEST(!f.ids().post(bad, [](connection&) { throw std::runtime_error("asked to"); }));
  BOOST_TEST(f.w.converse(f.clients[1], "x") == "<x>");
  BOOST_TEST(f.w.ended(f.clients[0]));
  BOOST_TEST((f.who.closed == std::vector<error_code>{errc::handler_threw}));
}

BOOST_DATA_TEST_CASE(a_broadcast_reaches_all_and_skips_the_gone, bdata::make(shapes), s) {
  fixture<noting> f(s);
  std::vector<connection_id> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(f.open());
  BOOST_TEST(!f.ids().close(ids[3]));
  f.w.sim.advance(std::chrono::seconds(2));
  const auto news = shared("news");
  BOOST_TEST(f.ids().broadcast(ids, news) == 9U);
  for (std::size_t i = 0; i < ids.size(); ++i) BOOST_TEST(f.w.received(f.clients[i]) == (i == 3 ? "" : "news"));
  BOOST_TEST(news.use_count() == 1);
}

namespace {

/// Checks that bytes from outside never lie within the output of one batch.
template <class Handler>
void check_whole(shape s, int seed) {
  fixture<Handler> f(s, static_cast<std::uint64_t>(seed));
  const connection_id id = f.open();
  f.w.sim.network().send(f.clients[0], "B");
  std::string all;
  for (int i = 0; i < 200; ++i) {
    if (i % 4 == 0) BOOST_TEST(!f.ids().send(id, "!"));
    f.w.server->main_loop().poll();
    all += f.w.sim.network().receive(f.clients[0]);
  }
  all += f.w.received(f.clients[0]);
  BOOST_TEST(std::count(all.begin(), all.end(), 'b') == 200'000);
  BOOST_TEST(std::count(all.begin(), all.end(), '!') == 50);
  const auto first = all.find('b'), last = all.rfind('b');
  BOOST_TEST(last - first == 199'999U);
}

}  // namespace

BOOST_DATA_TEST_CASE(bytes_from_outside_do_not_cut_a_message, bdata::make(shapes) * bdata::xrange(1, 10), s, seed) {
  check_whole<noting>(s, seed);
}

BOOST_DATA_TEST_CASE(coroutines_are_sent_to_as_well, bdata::make(shapes), s) {
  fixture<noting_coroutine> f(s);
  const connection_id id = f.open();
  BOOST_TEST(!f.ids().send(id, "hello"));
  BOOST_TEST(f.w.received(f.clients[0]) == "hello");
  BOOST_TEST(!f.ids().post(id, [](connection& c) { c.write("called"); }));
  BOOST_TEST(f.w.received(f.clients[0]) == "called");
  BOOST_TEST(f.w.converse(f.clients[0], "x") == "<x>");
  BOOST_TEST(f.w.converse(f.clients[0], "B").size() == 200'000U);
  BOOST_TEST(!f.ids().close(id));
  BOOST_TEST(f.w.received(f.clients[0]).empty());
  BOOST_TEST(f.w.ended(f.clients[0]));
}

BOOST_DATA_TEST_CASE(a_burst_leaves_merged, bdata::make(shapes), s) {
  fixture<noting> f(s);
  const connection_id id = f.open();
  const auto before = f.w.statistics().sends;
  std::string expected;
  for (int i = 0; i < 500; ++i) {
    BOOST_TEST(!f.ids().send(id, std::to_string(i)));
    expected += std::to_string(i);
  }
  BOOST_TEST(f.w.received(f.clients[0]) == expected);
  BOOST_TEST(f.w.statistics().sends - before <
             20U);  // more than one, because this network accepts a random part of each send
}

BOOST_DATA_TEST_CASE(pending_bytes_are_bounded, bdata::make(shapes), s) {
  fixture<noting> f(s, 1, {.max_output = 10'000, .high_watermark = 5'000, .low_watermark = 1'000});
  const connection_id id = f.open();
  const std::string word(1000, 'w');
  int taken = 0;
  error_code refused;
  while (!(refused = f.ids().send(id, word))) ++taken;  // no loop runs
  BOOST_TEST(refused == error_code(errc::output_full));
  BOOST_TEST(taken >= 8);
  BOOST_TEST(taken <= 10);
  BOOST_TEST(f.ids().post(id, [](connection&) {}) == error_code(errc::output_full));
  BOOST_TEST(f.ids().broadcast(f.who.open, shared("x")) == 0U);
  BOOST_TEST(f.w.received(f.clients[0]).size() == static_cast<std::size_t>(taken) * word.size());
  BOOST_TEST(!f.ids().send(id, word));
  BOOST_TEST(f.w.received(f.clients[0]) == word);
  while (!f.ids().send(id, word)) continue;
  BOOST_TEST(!f.ids().close(id));  // control messages are never refused
  f.w.sim.advance(std::chrono::seconds(2));
  BOOST_TEST(f.ids().size() == 0U);
}
