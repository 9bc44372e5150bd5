// SPDX-License-Identifier: BSL-1.0
// urgent_frames_test: what is picked out of a stream and answered ahead, however the stream is cut, and what is not.
#include <quintet/base/framing/checked.hpp>
#include <quintet/net/connection/urgent_frames.hpp>
#include <quintet/net/framed.hpp>

#include "world.hpp"

#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

/// "!x" is urgent, and answered with "?x"; "!throw" and what is thrown at are not. Everything else is echoed.
template <class Codec>
struct echo {
  Codec wire;
  std::vector<std::string>* messages;
  std::vector<error_code>* closed;
  void operator()(connection& c, bytes message) const {
    messages->emplace_back(message);
    if (message == "bye") return c.close();
    BOOST_TEST(!write_message(c, wire, message));
  }
  void on_close(connection&, error_code why) const { closed->push_back(why); }

  static inline Codec reply_wire{};
  static bool is_urgent(bytes message) { return message.starts_with('!'); }
  static void on_urgent(urgent_reply& reply, bytes message) {
    if (message == "!throw") throw std::runtime_error("urgent");
    const std::string answer = "?" + std::string(message.substr(1));
    BOOST_TEST(!write_message(reply, reply_wire, answer));
  }
};

struct prefix : length_prefix<4> {
  prefix() : length_prefix<4>(1U << 20U) {}
};
struct line : delimiter {
  line() : delimiter("\r\n", 1U << 20U) {}
};
using check_sum = checked<length_prefix<2>>;
struct summed : check_sum {
  summed() : check_sum(length_prefix<2>()) {}
};
static_assert(transparent_codec<length_prefix<4>> && !transparent_codec<delimiter>);

template <class Codec>
std::string on_wire(std::initializer_list<std::string> messages) {
  std::string all;
  for (const std::string& text : messages) {
    message_buffer m{bytes(text)};
    BOOST_REQUIRE(!Codec().wrap(m));
    all += m.data();
  }
  return all;
}

template <class Codec>
struct fixture {
  explicit fixture(shape s, const connection_limits& limits = {}, std::uint64_t seed = 1)
      : w(seed, s, framed(Codec(), echo<Codec>{Codec(), &messages, &closed}), limits), client(w.connect()) {}
  std::vector<std::string> messages;
  std::vector<error_code> closed;
  world<framed<Codec, echo<Codec>>> w;
  int client;
};

template <class Codec>
void is_answered_wherever_it_is_cut(shape s) {
  const std::string big(6000, 'b');
  const std::string all = on_wire<Codec>({"a", "!1", "!2", big, "!3", "", "z"});
  for (std::size_t cut = 0; cut <= all.size(); cut += (cut < 40 || cut + 40 > all.size() ? 1 : 997)) {
    fixture<Codec> f(s);
    f.w.send(f.client, all.substr(0, cut));
    f.w.send(f.client, all.substr(cut));
    const std::string answers = f.w.received(f.client);
    for (const char* urgent : {"?1", "?2", "?3"})
      BOOST_TEST(answers.find(on_wire<Codec>({urgent})) != std::string::npos, cut << ": " << urgent);
    BOOST_TEST(answers.size() == all.size());
    BOOST_TEST((f.messages == std::vector<std::string>{"a", big, "", "z"}), cut);
    BOOST_TEST(f.w.statistics().urgent == 3U);
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(it_is_answered_wherever_it_is_cut, bdata::make(shapes), s) {
  is_answered_wherever_it_is_cut<prefix>(s);
  is_answered_wherever_it_is_cut<line>(s);
  is_answered_wherever_it_is_cut<summed>(s);
}

BOOST_DATA_TEST_CASE(byte_by_byte_as_well, bdata::make(shapes), s) {
  fixture<prefix> f(s);
  for (const char c : on_wire<prefix>({"a", "!1", "b"})) f.w.send(f.client, bytes(&c, 1));
  BOOST_TEST(f.w.received(f.client) == on_wire<prefix>({"a", "?1", "b"}));
  BOOST_TEST(f.w.statistics().urgent == 1U);
}

// One whose length is announced, and is above what is held back for it. In two parts it cannot be urgent; so it is not
// urgent in one either.
BOOST_DATA_TEST_CASE(a_long_one_comes_to_the_handler_however_it_is_cut, bdata::make(shapes), s) {
  const std::string longest = "!" + std::string(4096 - 4 - 1, 'x'), longer = longest + "x";
  const std::string all = on_wire<prefix>({longest, longer});
  for (const std::size_t cut : {std::size_t{0}, std::size_t{3}, all.size() - 1, all.size()}) {
    fixture<prefix> f(s);
    f.w.send(f.client, all.substr(0, cut));
    f.w.send(f.client, all.substr(cut));
    BOOST_TEST(f.w.received(f.client).size() == all.size());
    BOOST_TEST((f.messages == std::vector<std::string>{longer}));
    BOOST_TEST(f.w.statistics().urgent == 1U);
  }
}

BOOST_DATA_TEST_CASE(a_stream_that_ends_within_a_message_tells_the_handler, bdata::make(shapes), s) {
  fixture<line> f(s);
  f.w.send(f.client, "a\r\n!unfinish");
  f.w.sim.network().shutdown_send(f.client);
  BOOST_TEST(f.w.received(f.client) == "a\r\n");
  BOOST_TEST(f.w.ended(f.client));
  BOOST_TEST((f.closed == std::vector<error_code>{errc::incomplete_message}));
}

BOOST_DATA_TEST_CASE(what_the_codec_refuses_is_refused_by_the_handlers, bdata::make(shapes), s) {
  fixture<prefix> f(s);
  f.w.send(f.client, on_wire<prefix>({"a"}) + "\xff\xff\xff\xff" + "more and more");
  BOOST_TEST(f.w.received(f.client) == on_wire<prefix>({"a"}));
  f.w.sim.network().close(f.client);
  f.w.sim.run_until_quiet();
  BOOST_TEST((f.closed == std::vector<error_code>{errc::message_too_big}));
}

BOOST_DATA_TEST_CASE(one_that_throws_ends_its_connection_alone, bdata::make(shapes), s) {
  fixture<line> f(s);
  const int other = f.w.connect();
  f.w.send(f.client, "!throw\r\n");
  BOOST_TEST(f.w.ended(f.client));
  BOOST_TEST((f.closed == std::vector<error_code>{errc::handler_threw}));
  BOOST_TEST(f.w.statistics().handler_errors == 1U);
  BOOST_TEST(f.w.converse(other, "!1\r\n") == "?1\r\n");
}

BOOST_DATA_TEST_CASE(after_the_end_nothing_is_urgent, bdata::make(shapes), s) {
  fixture<line> f(s);
  BOOST_TEST(f.w.converse(f.client, "bye\r\n").empty());
  BOOST_TEST(f.w.converse(f.client, "!1\r\n").empty());
  BOOST_TEST(f.w.statistics().urgent == 0U);
}

// Replies that nobody reads are output like any other: above the watermark input waits, and so do urgent messages.
BOOST_DATA_TEST_CASE(who_does_not_read_is_not_answered_without_end, bdata::make(shapes), s) {
  fixture<line> f(s, {.max_output = 64 * 1024, .high_watermark = 16 * 1024, .low_watermark = 1024});
  std::string burst;
  for (int i = 0; i < 1000; ++i) burst += "!" + std::string(98, 'x') + "\r\n";
  for (int i = 0; i < 50; ++i) f.w.send(f.client, burst);
  BOOST_TEST(f.w.statistics().urgent < 25'000U);
  BOOST_TEST(f.closed.size() <= 1U);
}

// An urgent message leaves nothing to wait for; a part of one, or of what comes behind it, has to go on.
BOOST_DATA_TEST_CASE(urgent_messages_have_their_time_as_well, bdata::make(shapes), s) {
  for (const bytes part : {"", "!", "!1\r", "ab"}) {
    fixture<line> f(s, {.message_timeout = 10s});
    BOOST_TEST(f.w.converse(f.client, "!1\r\n" + std::string(part)) == "?1\r\n");
    f.w.sim.advance(9900ms);
    BOOST_TEST(f.closed.empty());
    f.w.sim.advance(200ms);
    const std::vector<error_code> cut(part.empty() ? 0 : 1, errc::message_timeout);
    BOOST_TEST((f.closed == cut), part);
  }
}

namespace {

/// Notes what memory its copies without messages have, and how often they were asked.
struct noted : chunked<length_prefix<2>> {
  using base = chunked<length_prefix<2>>;
  noted() : base(length_prefix<2>(1000), {.send = true, .receive = true}) {}
  [[nodiscard]] noted without_messages() const {
    noted copy(*this);
    static_cast<base&>(copy) = base::without_messages();
    copy.filters = true;
    return copy;
  }
  frame parse(bytes in) {
    const frame found = base::parse(in);
    if (filters) {
      ++filtered;
      kept_by_filters = std::max(kept_by_filters, kept_bytes());
    }
    return found;
  }
  bool filters = false;
  static inline std::size_t filtered, kept_by_filters;
};
static_assert(keeps_messages<noted>);

std::string in_frames(const noted& wire, const std::string& message) {
  std::string all;
  BOOST_REQUIRE(!wire.wrap_all(message, [&all](const envelope& e) {
    for (const bytes& piece : e.pieces()) all += piece;
  }));
  return all;
}

struct sizes {
  std::vector<std::size_t>* all;
  void operator()(connection&, bytes message) const { all->push_back(message.size()); }
  static bool is_urgent(bytes message) { return message == "!"; }
  static void on_urgent(urgent_reply& reply, bytes) { reply.write("?"); }
};

}  // namespace

// The handler's codec keeps a message in several frames until it is whole; a second copy would be memory for nothing.
BOOST_DATA_TEST_CASE(the_search_for_urgent_messages_keeps_none, bdata::make(shapes), s) {
  noted::filtered = noted::kept_by_filters = 0;
  std::vector<std::size_t> received;
  world w(1, s, framed(noted(), sizes{&received}));
  const int client = w.connect();
  for (const std::string& message : {std::string(100'000, 'b'), std::string("!"), std::string(5'000, 'b')})
    w.send(client, in_frames(noted(), message));
  BOOST_TEST(w.received(client) == "?");
  BOOST_TEST((received == std::vector<std::size_t>{100'000, 5'000}));
  BOOST_TEST(noted::filtered > 100U);
  BOOST_TEST(noted::kept_by_filters <= std::string().capacity());
}
