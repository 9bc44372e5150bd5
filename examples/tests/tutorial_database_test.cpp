// SPDX-License-Identifier: BSL-1.0
// tutorial_database_test: step 7 of the tutorial in a simulation: login, cursors, drain and the admin port.
// ctest: LIBS quintet::testing
#include "tutorial/step7_database/session.hpp"
#include "tutorial/wire.hpp"

#include <quintet/net/simulation.hpp>
#include <quintet/threadmodels/models.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace bdata = boost::unit_test::data;
using namespace std::chrono_literals;
using replies = std::vector<std::string>;

constexpr std::size_t table_rows = 4000;
const std::string row_text(100, '.');

/// Output above the high watermark may be one batch of the cursor. A cursor that did not wait would exceed max_output,
/// and its connection would end.
quintet::connection_limits small_limits() {
  quintet::connection_limits limits;
  limits.high_watermark = 16 * 1024;
  limits.low_watermark = 4 * 1024;
  limits.max_output = 32 * 1024;
  return limits;
}

/// The server on a network in memory. Port 7 is for clients, port 8 is the admin port.
class world {
 public:
  explicit world(std::uint64_t seed) : sim_(seed) {
    all_.passwords = {{"ann", "secret"}};
    all_.admin_port = 8;
    all_.status = [this] { return std::to_string(all_.data.rows()) + " rows"; };
    all_.drain = [this] { server_.drain(5s); };
    for (std::size_t i = 0; i < table_rows; ++i)
      BOOST_REQUIRE(all_.data.insert("numbers", std::to_string(i) + row_text));
    server_.start();
    sim_.drive(server_.main_loop());
  }
  ~world() {
    server_.stop();
    sim_.run_until_quiet();
    server_.finish();
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  quintet::testing::simulation& sim() { return sim_; }
  void drain() { server_.drain(5s), sim_.run_until_quiet(); }
  [[nodiscard]] bool has_finished() { return server_.main_loop().finished(); }

 private:
  using sessions = decltype(tutorial::make_sessions(std::declval<tutorial::service&>()));

  quintet::testing::simulation sim_;
  tutorial::service all_;
  quintet::server server_{{.listen = {"127.0.0.1:7", "127.0.0.1:8"},
                           .limits = small_limits(),
                           .make_engine = [this] { return sim_.network().make_engine(); },
                           .time = &sim_.time()},
                          quintet::single_reactor(),
                          tutorial::make_sessions(all_)};
};

class client {
 public:
  explicit client(world& in, std::uint16_t port = 7) : sim_(in.sim()), handle_(net().connect(port)) {
    sim_.run_until_quiet();
  }
  void send(const std::string& request) {
    quintet::message_buffer message(request);
    BOOST_REQUIRE(!tutorial::wire.wrap(message));
    net().send(handle_, message.data());
    sim_.run_until_quiet();
  }
  /// Returns the next message, and nothing if there is none. Receives at most `most` bytes at a time.
  std::optional<std::string> next(std::size_t most) {
    while (true) {
      const quintet::frame found = tutorial::wire.parse(received_);
      if (found.is == quintet::frame::state::complete) {
        std::string message(found.message);
        received_.erase(0, found.size);
        return message;
      }
      const std::string more = net().receive(handle_, most);
      sim_.run_until_quiet();
      if (more.empty()) return std::nullopt;
      received_ += more;
    }
  }
  replies receive() {
    replies all;
    while (const auto message = next(std::string::npos)) all.push_back(*message);
    return all;
  }
  replies ask(const std::string& request) { return send(request), receive(); }
  [[nodiscard]] bool at_end() { return net().at_end(handle_); }
  [[nodiscard]] bool was_reset() { return net().was_reset(handle_); }

 private:
  quintet::testing::memory_network& net() { return sim_.network(); }

  quintet::testing::simulation& sim_;
  int handle_;
  std::string received_;
};

const replies ok{"ok"}, pong{"pong"};

/// Reads `most` bytes at a time until a message is not a row. Checks that the rows come in order from the first one on,
/// and returns their number and the last message.
std::pair<std::size_t, std::string> read_rows(client& c, std::size_t most) {
  for (std::size_t count = 0;; ++count) {
    const auto message = c.next(most);
    BOOST_REQUIRE(message);
    if (!message->starts_with("row ")) return {count, *message};
    BOOST_REQUIRE_EQUAL(*message, "row " + std::to_string(count) + row_text);
  }
}

BOOST_DATA_TEST_CASE(a_client_without_a_password_is_refused, bdata::xrange(20), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client c(w);
  const replies refused{"error: login NAME PASSWORD comes first"};
  BOOST_TEST(c.ask("scan numbers") == refused);
  BOOST_TEST(c.ask("login ann secre") == refused);
  BOOST_TEST(!c.at_end());
  BOOST_TEST(c.ask("login bob secret") == refused);
  BOOST_TEST(c.ask("login ann secret") == replies());  // three attempts are all
  BOOST_TEST(c.at_end());
}

BOOST_AUTO_TEST_CASE(a_client_that_has_logged_in_is_answered) {
  world w(1);
  client c(w);
  BOOST_TEST(c.ask("login ann secret") == ok);
  BOOST_TEST(c.ask("insert colors dark blue") == ok);
  BOOST_TEST(c.ask("insert colors green") == ok);
  BOOST_TEST(c.ask("scan colors") == (replies{"row dark blue", "row green", "end 2"}));
  BOOST_TEST(c.ask("scan colors 1") == (replies{"row green", "end 1"}));
  BOOST_TEST(c.ask("scan colors 3") == replies{"end 0"});
  BOOST_TEST(c.ask("count colors blue") == replies{"count 1"});
  BOOST_TEST(c.ask("scan flowers") == replies{"error: no such table"});
  BOOST_TEST(c.ask("scan colors -1") == replies{"error: FROM is the number of a row"});
  BOOST_TEST(c.ask("status").front().starts_with("error: the requests are"));  // only the admin port knows it
}

BOOST_DATA_TEST_CASE(a_cursor_streams_while_its_client_reads_slowly, bdata::xrange(10), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client slow(w), other(w);
  BOOST_TEST(slow.ask("login ann secret") == ok);
  BOOST_TEST(other.ask("login ann secret") == ok);
  slow.send("scan numbers");
  slow.send("ping");  // waits for the cursor
  BOOST_TEST(other.ask("ping") == pong);
  BOOST_TEST(other.ask("insert numbers late") == ok);  // the cursor ends where the table ended when it was made
  const auto [next, last] = read_rows(slow, 1000);
  BOOST_TEST(next == table_rows);
  BOOST_TEST(last == "end " + std::to_string(table_rows));
  BOOST_TEST(slow.receive() == pong);
}

BOOST_DATA_TEST_CASE(a_drain_ends_within_its_time, bdata::xrange(10), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client idle(w), stuck(w);
  BOOST_TEST(stuck.ask("login ann secret") == ok);
  stuck.send("scan numbers");  // and reads nothing
  w.drain();
  BOOST_TEST(idle.at_end());
  w.sim().advance(4900ms);
  BOOST_TEST(!w.has_finished());
  w.sim().advance(200ms);
  BOOST_TEST(w.has_finished());
  BOOST_TEST(stuck.was_reset());  // it cannot take the part for all rows
}

BOOST_DATA_TEST_CASE(a_drain_ends_a_cursor_and_says_where, bdata::xrange(10), seed) {
  world w(static_cast<std::uint64_t>(seed));
  client c(w);
  BOOST_TEST(c.ask("login ann secret") == ok);
  c.send("scan numbers");
  w.drain();
  const auto [next, last] = read_rows(c, 1000);
  BOOST_TEST(next < table_rows);
  BOOST_TEST(last == "error: the server stops; the next row is " + std::to_string(next));
  BOOST_TEST(c.at_end());
  w.sim().advance(2s);  // the client does not close: linger_timeout
  BOOST_TEST(w.has_finished());
}

BOOST_AUTO_TEST_CASE(an_admin_sees_the_status_and_drains) {
  world w(1);
  client idle(w), admin(w, 8);
  BOOST_TEST(admin.ask("ping") == pong);
  BOOST_TEST(admin.ask("status") == replies{std::to_string(table_rows) + " rows"});
  BOOST_TEST(admin.ask("login ann secret").front().starts_with("error: "));
  BOOST_TEST(admin.ask("drain") == replies{"draining"});
  BOOST_TEST(admin.at_end());
  BOOST_TEST(idle.at_end());
}

BOOST_AUTO_TEST_CASE(without_an_admin_port_nobody_is_an_admin) {
  const tutorial::service none;
  BOOST_TEST(!none.is_admin({.peer = quintet::address("unix:/a"), .local = quintet::address("unix:/b")}));
  BOOST_TEST(!none.is_admin({.peer = quintet::address("127.0.0.1:1"), .local = quintet::address("127.0.0.1:7")}));
}

BOOST_AUTO_TEST_CASE(a_database_holds_no_more_than_its_limit) {
  tutorial::database data(1000);
  int rows = 0;
  while (data.insert("t", std::string(36, 'x'))) BOOST_REQUIRE_LT(++rows, 100);
  BOOST_TEST(rows == 10);
  BOOST_TEST(data.held_bytes() <= 1000);
  BOOST_TEST(data.find("t")->size() == 10);
}

}  // namespace
