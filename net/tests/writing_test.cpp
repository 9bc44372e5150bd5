// SPDX-License-Identifier: BSL-1.0
// writing_test: buffers that are kept and not copied, corks, and why output has left.
#include "watched_engine.hpp"
#include "world.hpp"

#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>

using namespace quintet;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

constexpr std::size_t kib = 1024;
const std::vector<bool> both{false, true};

/// What a test does with the baton, in either flavour.
using action = std::function<void(connection&, bytes)>;

struct acting {
  action act;
  void operator()(connection& c, bytes in) const { act(c, in); }
};
struct acting_coroutine {
  action act;
  awaitable<> operator()(stream& s) const { return run(s, act); }
  static awaitable<> run(stream& s, action act) {
    while (const auto in = co_await s.read()) act(s, *in);
  }
};

/// One loop whose engine is watched; everything that the network's window of 16 KiB does not take waits.
struct watched {
  watched(action act, bool pooled, const connection_limits& limits = {})
      : sim(1),
        server(
            {.listen = {"127.0.0.1:7"},
             .limits = limits,
             .make_engine = [this] { return std::make_unique<watched_engine>(sim.network().make_engine(), offered); },
             .time = &sim.time()},
            simulated_model(sim, 0, pooled), acting{std::move(act)}) {
    server.start();
    sim.drive(server.main_loop());
    client = sim.network().connect(7);
    sim.run_until_quiet();
  }
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;
  ~watched() {
    sim.network().close(client);
    server.stop();
    sim.run_until_quiet();
    server.finish();
  }
  std::string converse(bytes data) {
    sim.network().send(client, data);
    std::string all;
    for (std::string more; sim.run_until_quiet(), !(more = sim.network().receive(client)).empty();) all += more;
    return all;
  }
  /// How many of the bytes that were offered lie within these.
  std::size_t offered_from(bytes where) const {
    std::size_t sum = 0;
    for (const bytes& p : offered)
      if (std::less_equal<>()(where.data(), p.data()) && std::less<>()(p.data(), where.data() + where.size()))
        sum += p.size();
    return sum;
  }
  std::size_t offered_in_all() const {
    std::size_t sum = 0;
    for (const bytes& p : offered) sum += p.size();
    return sum;
  }

  simulation sim;
  watched_engine::journal offered;
  basic_server server;
  int client = -1;
};

std::string numbered(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + ',';
  text.resize(size);
  return text;
}

}  // namespace

BOOST_DATA_TEST_CASE(a_large_shared_buffer_is_sent_from_where_it_is, bdata::make(both), pooled) {
  auto page = std::make_shared<const std::string>(numbered(100 * kib));
  watched w([&](connection& c, bytes) { BOOST_TEST(c.write(page)); }, pooled);
  BOOST_TEST((w.converse("x") == *page));
  BOOST_TEST(w.offered_in_all() >= page->size());
  BOOST_TEST(w.offered_from(*page) == w.offered_in_all());
  BOOST_TEST(page.use_count() == 1);  // it has left, and nobody keeps it
}

BOOST_DATA_TEST_CASE(a_large_string_that_is_moved_is_sent_from_where_it_is, bdata::make(both), pooled) {
  const std::string expected = numbered(20 * kib);
  bytes place;
  watched w(
      [&](connection& c, bytes) {
        std::string reply = expected;
        place = reply;
        const bool taken = c.write(std::move(reply));
        BOOST_TEST(taken);
      },
      pooled);
  BOOST_TEST((w.converse("x") == expected));
  BOOST_TEST(w.offered_from(place) == w.offered_in_all());
}

BOOST_DATA_TEST_CASE(what_is_small_or_not_given_away_is_copied, bdata::make(both), pooled) {
  const auto small = std::make_shared<const std::string>(numbered(connection_limits().merge_threshold - 1));
  const std::string kept = numbered(10 * kib);
  watched w(
      [&](connection& c, bytes) {
        std::string lvalue = kept;
        c.write("literal");
        c.write(std::string_view("view"));
        c.write(lvalue);
        c.write(kept);
        c.write(std::string("moved"));
        c.write(small);
        c.write(shared_bytes());
        c.write(std::string());
        BOOST_TEST(small.use_count() == 1);
        BOOST_TEST(lvalue == kept);
      },
      pooled);
  BOOST_TEST((w.converse("x") == "literalview" + kept + kept + "moved" + *small));
  BOOST_TEST(w.offered_from(kept) == 0u);
  BOOST_TEST(w.offered_from(*small) == 0u);
}

// As published for another library: 2,999 bytes are merged with their neighbours, 3,073 are not.
BOOST_DATA_TEST_CASE(the_merge_threshold_decides_what_is_copied, bdata::make(both), pooled) {
  const auto below = std::make_shared<const std::string>(numbered(2999));
  const auto above = std::make_shared<const std::string>(numbered(3073));
  std::string moved = *above;
  const bytes place = moved;
  watched w(
      [&](connection& c, bytes) {
        c.write("head");
        c.write(below);
        c.write(above);
        c.write(std::move(moved));
      },
      pooled, {.merge_threshold = 3072});
  BOOST_TEST((w.converse("x") == "head" + *below + *above + *above));
  BOOST_TEST(w.offered_from(*below) == 0U);
  BOOST_TEST(w.offered_from(*above) >= above->size());  // what is not taken is offered again
  BOOST_TEST(w.offered_from(place) >= above->size());
}

BOOST_DATA_TEST_CASE(a_merge_threshold_of_1_copies_nothing_that_is_shared, bdata::make(both), pooled) {
  const auto one = std::make_shared<const std::string>("1");
  const auto none = std::make_shared<const std::string>();
  watched w(
      [&](connection& c, bytes) {
        c.write("head");
        c.write(none);
        c.write(one);
      },
      pooled, {.merge_threshold = 1});
  BOOST_TEST((w.converse("x") == "head1"));
  BOOST_TEST(w.offered_from(*one) >= 1U);
}

// Copied and kept ones in turn, behind output that waits as well as in front; also through flush() and the early send.
BOOST_DATA_TEST_CASE(order_is_kept_between_copies_and_references, bdata::make(shapes) * bdata::xrange(5), s, seed) {
  const auto page = std::make_shared<const std::string>(numbered(5 * kib));
  std::string expected;
  action act = [&](connection& c, bytes in) {
    for (const char x : in)
      for (int i = 0; i < 30; ++i) {
        const std::string head = x + std::to_string(i) + ":";
        BOOST_TEST(c.write(head));
        const bool taken = i % 3 == 0 ? c.write(page) : i % 3 == 1 ? c.write(numbered(5 * kib)) : c.write(bytes(*page));
        BOOST_TEST(taken);
        expected += head + *page;
        if (i == 7) c.flush();
      }
  };
  const auto converse_with = [&](const auto& handler) {
    expected.clear();
    world<std::remove_cvref_t<decltype(handler)>> w(static_cast<std::uint64_t>(seed), s, handler);
    const int client = w.connect();
    w.send(client, "a");
    w.send(client, "b");
    const std::string all = w.received(client);
    BOOST_TEST((all == expected));
    BOOST_TEST(all.size() > 300 * kib);
    BOOST_TEST(page.use_count() == 1);
  };
  converse_with(acting{act});
  converse_with(acting_coroutine{act});
}

BOOST_DATA_TEST_CASE(what_waits_is_kept_and_goes_with_the_connection, bdata::make(shapes), s) {
  const auto page = std::make_shared<const std::string>(numbered(500 * kib));
  world<acting> w(1, s, acting{[&](connection& c, bytes) { c.write(page); }});
  const int client = w.connect();
  w.send(client, "x");
  BOOST_TEST(page.use_count() == 2);
  w.sim.network().reset(client);
  w.sim.run_until_quiet();
  BOOST_TEST(page.use_count() == 1);
}

BOOST_DATA_TEST_CASE(limits_apply_to_buffers_that_are_kept, bdata::make(shapes), s) {
  const auto page = std::make_shared<const std::string>(numbered(100 * kib));
  std::vector<bool> taken;
  world<acting> w(1, s, acting{[&](connection& c, bytes in) {
                    if (in == "s") c.shutdown_send();
                    taken.push_back(c.write(page));
                  }},
                  {.max_output = 150 * kib,
                   .high_watermark = 50 * kib,
                   .low_watermark = 10 * kib,
                   .overflow = overflow_policy::error});
  const int client = w.connect();
  w.send(client, "x");
  w.send(client, "x");  // above the watermark
  BOOST_TEST(taken == (std::vector<bool>{true, false}), boost::test_tools::per_element());
  BOOST_TEST((w.received(client) == *page));
  BOOST_TEST(w.converse(client, "x").size() == page->size());
  w.send(client, "s");
  BOOST_TEST(!taken.back());
  BOOST_TEST(page.use_count() == 1);
}

BOOST_DATA_TEST_CASE(too_much_that_is_kept_ends_the_connection, bdata::make(shapes), s) {
  const auto page = std::make_shared<const std::string>(numbered(200 * kib));
  bool taken = true;
  world<acting> w(1, s, acting{[&](connection& c, bytes) { taken = c.write(page); }},
                  {.max_output = 150 * kib, .high_watermark = 50 * kib, .low_watermark = 10 * kib});
  const int client = w.connect();
  w.send(client, "x");
  BOOST_TEST(!taken);
  BOOST_TEST(w.sim.network().was_reset(client));
  BOOST_TEST(page.use_count() == 1);
}

// ---- Corks ----------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(nothing_leaves_before_the_last_cork_ends) {
  watched* world = nullptr;
  std::vector<std::size_t> offered;  // sends so far
  const auto look = [&] { offered.push_back(world->server.statistics().sends); };
  watched w(
      [&](connection& c, bytes) {
        {
          const auto together = c.cork();
          {
            auto also = c.cork();
            const auto the_same = std::move(also);
            for (int i = 0; i < 10; ++i) c.write(std::string(10 * kib, 'x'));  // above a connection's share of the turn
            c.flush();
            look();
          }
          c.flush();
          look();
        }
        look();
        c.write("y");
        c.flush();  // waits: the kernel has no room
        look();
      },
      false);
  world = &w;
  BOOST_TEST(w.converse("g").size() == 100 * kib + 1);
  BOOST_TEST(offered == (std::vector<std::size_t>{0, 0, 1, 1}), boost::test_tools::per_element());
}

namespace {

struct hoarder {
  std::shared_ptr<std::optional<cork_guard>> kept = std::make_shared<std::optional<cork_guard>>();
  void operator()(connection& c, bytes in) const {
    if (!*kept) kept->emplace(c.cork());
    c.write(in);
  }
  void on_close(connection&, error_code) const { kept->reset(); }
};

struct hoarding_coroutine {
  awaitable<> operator()(stream& s) const {
    const auto together = s.cork();
    while (const auto in = co_await s.read()) s.write(*in);
  }
};

}  // namespace

// The end of a batch sends, and so does a coroutine's wait: a cork that is held too long delays nothing for ever.
BOOST_DATA_TEST_CASE(a_cork_does_not_outlast_the_batch, bdata::make(shapes), s) {
  const auto converse_with = [&](const auto& handler) {
    world<std::remove_cvref_t<decltype(handler)>> w(1, s, handler);
    const int client = w.connect();
    BOOST_TEST(w.converse(client, "one") == "one");
    BOOST_TEST(w.converse(client, "two") == "two");
    w.sim.network().shutdown_send(client);
    w.sim.run_until_quiet();
  };
  converse_with(hoarder());
  converse_with(hoarding_coroutine());
}

BOOST_DATA_TEST_CASE(an_exception_that_ends_a_cork_sends_nothing, bdata::make(shapes), s) {
  world<acting> w(1, s, acting{[](connection& c, bytes) {
                    const auto together = c.cork();
                    c.write("half of a");
                    throw std::runtime_error("asked to");
                  }});
  const int client = w.connect();
  BOOST_TEST(w.converse(client, "x").empty());
  BOOST_TEST(w.ended(client));
}

// ---- Why output has left --------------------------------------------------------------------------------------------

// In single bytes, which the network cannot cut.
BOOST_AUTO_TEST_CASE(sends_are_counted_by_their_reason) {
  connection_id who;
  world<acting> w(1, {0, false}, acting{[&](connection& c, bytes in) {
                    who = c.id();
                    if (in == "c") {
                      const auto together = c.cork();
                      c.write("1");
                    } else if (in == "f") {
                      c.write("1");
                      c.flush();
                      c.write("2");
                    } else {
                      c.write(std::string(in == "m" ? 100'000 : 1, 'x'));
                    }
                  }});
  w.sim.network().takes_all = true;
  const int client = w.connect();
  BOOST_TEST(w.converse(client, "x") == "x");
  server_statistics n = w.statistics();
  BOOST_TEST(n.sends == 1u);
  BOOST_TEST(n.sends_flushed + n.sends_full + n.sends_outside + n.sends_resumed == 0u);

  BOOST_TEST(w.converse(client, "f") == "12");
  BOOST_TEST(w.converse(client, "c") == "1");
  n = w.statistics();
  BOOST_TEST(n.sends == 4u);
  BOOST_TEST(n.sends_flushed == 2u);

  BOOST_TEST(!w.server->connections().send(who, "a"));
  BOOST_TEST(!w.server->connections().send(who, "b"));
  BOOST_TEST(w.received(client) == "ab");
  BOOST_TEST(w.statistics().sends_outside == 1u);

  w.sim.network().window = 1000;
  BOOST_TEST(w.converse(client, "m").size() == 100'000u);
  n = w.statistics();
  BOOST_TEST(n.sends_full == 1u);
  BOOST_TEST(n.sends_resumed >= 99u);
  BOOST_TEST(n.sends == 2 + n.sends_flushed + n.sends_full + n.sends_outside + n.sends_resumed);
}
