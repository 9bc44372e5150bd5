// SPDX-License-Identifier: BSL-1.0
// attach_test: connections that handlers have opened themselves live on the loops of the connections they serve.
// ctest: EACH_ENGINE
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/connector.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include <sys/socket.h>

namespace quintet::test {
namespace {

namespace bdata = boost::unit_test::data;

struct shared_state {
  std::function<void(event_loop&, connection_id)> dial;
  std::atomic<int> together{0}, apart{0}, closed{0};
  std::promise<error_code> refused;
};

/// Handler of an attached connection: forwards its input to the client.
struct behind {
  shared_state* all;
  connection_id client;
  const event_loop* loop_of_client;

  void on_open(connection& c) const {
    ++(&c.loop() == loop_of_client ? all->together : all->apart);
    c.write("question\n");
  }
  void operator()(connection& c, bytes in) const { c.registry().send(client, in); }
  void on_close(connection&, error_code) const { ++all->closed; }
};

/// Handler of a client: its first bytes open a connection to the other server.
struct front {
  shared_state* all;
  void operator()(connection& c, bytes) const { all->dial(c.loop(), c.id()); }
};

void connect_and_adopt(server& srv, shared_state& all, std::uint16_t to, event_loop& near, connection_id client) {
  event_loop& on = near.io().capabilities().single_stream ? srv.main_loop() : near;
  on.post([&srv, &all, to, &near, &on, client]() noexcept {
    auto dialling = std::make_shared<std::optional<connector>>();
    dialling->emplace(on, connect_options{},
                      [&srv, &all, &near, client, dialling](error_code ec, stream_handle stream) {
                        if (!ec)
                          srv.attach(&near, std::move(stream), behind{&all, client, &near},
                                     [&all](error_code why) { all.refused.set_value(why); });
                        dialling->reset();
                      });
    (*dialling)->start(address(join_address("127.0.0.1", to)));
  });
}

BOOST_DATA_TEST_CASE(an_adopted_connection_lives_on_the_loop_it_is_for, bdata::make(all_models), kind) {
  running<server> answering(config{.listen = {"127.0.0.1:0"}, .model = model::loop_per_thread},
                            [](connection& c, bytes in) { c.write("answer to " + std::string(in)); });
  shared_state all;
  running<server> srv(config{.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 3}}, front{&all});
  all.dial = [&](event_loop& near, connection_id id) { connect_and_adopt(*srv, all, answering->port(), near, id); };
  for (int i = 0; i < 6; ++i) {
    client c(srv->port());
    BOOST_TEST(c.send("go"));
    BOOST_TEST(c.receive_line() == "answer to question");
  }
  const bool alone = kind == model::thread_per_connection;
  BOOST_TEST(all.together == (alone ? 0 : 6));
  BOOST_TEST(all.apart == (alone ? 6 : 0));
  srv->drain(std::chrono::seconds(10));
  srv.join();
  BOOST_TEST(all.closed == 6);
}

// The client uses the only thread that is allowed.
BOOST_AUTO_TEST_CASE(one_that_has_no_place_is_refused_and_closed) {
  running<server> answering(config{.listen = {"127.0.0.1:0"}}, [](connection& c, bytes in) { c.write(in); });
  shared_state all;
  running<server> srv(
      config{.listen = {"127.0.0.1:0"}, .model = model::thread_per_connection, .threads = {.max_threads = 1}},
      front{&all});
  all.dial = [&](event_loop& near, connection_id id) { connect_and_adopt(*srv, all, answering->port(), near, id); };
  client c(srv->port());
  BOOST_TEST(c.send("go"));
  BOOST_TEST(all.refused.get_future().get() == make_error_code(errc::too_many_threads));
  BOOST_TEST(eventually([&] { return answering->statistics().closed == 1; }));
  BOOST_TEST(all.together + all.apart == 0);
}

/// A handle to attach; the test has the other end.
struct stream_pair {
  stream_pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
    peer = client::over(ends[0]);
    handle = ends[1];
  }
  std::optional<client> peer;
  int handle = -1;
};

/// Attaches a handle on every loop that can be named, and on the one of the model's choice. Returns how many.
std::size_t attach_everywhere(server& srv, shared_state& all, std::vector<stream_pair>& pairs,
                              std::vector<error_code>& refused) {
  std::vector<event_loop*> loops = srv.loops();
  loops.push_back(&srv.main_loop());
  loops.push_back(nullptr);
  for (event_loop* near : loops)
    srv.attach(near, pairs.emplace_back().handle, behind{&all, {}, near},
               [&refused](error_code why) { refused.push_back(why); });
  return loops.size();
}

BOOST_DATA_TEST_CASE(it_is_too_late_when_the_server_has_stopped, bdata::make(all_models) * bdata::make({false, true}),
                     kind, drains) {
  shared_state all;
  std::vector<stream_pair> pairs;
  std::vector<error_code> refused;
  std::size_t count = 0;
  {
    running<server> srv(config{.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 3}}, front{&all});
    drains ? srv->drain(std::chrono::seconds(10)) : srv->stop();
    srv.join();
    count = attach_everywhere(*srv, all, pairs, refused);
  }
  BOOST_TEST((refused == std::vector<error_code>(count, errc::stopped)));
  for (stream_pair& p : pairs) BOOST_TEST(p.peer->receive_rest().empty());
  BOOST_TEST(all.together + all.apart == 0);
}

BOOST_DATA_TEST_CASE(a_server_that_never_runs_adopts_nothing, bdata::make(all_models), kind) {
  shared_state all;
  std::vector<stream_pair> pairs;
  std::vector<error_code> refused;
  std::size_t count = 0;
  {
    server srv(config{.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 3}}, front{&all});
    count = attach_everywhere(srv, all, pairs, refused);
  }
  BOOST_TEST((refused == std::vector<error_code>(count, errc::stopped)));
  for (stream_pair& p : pairs) BOOST_TEST(p.peer->receive_rest().empty());
}

/// A handler that cannot be moved once `breaks` is set.
struct fragile {
  const bool& breaks;
  explicit fragile(const bool& flag) : breaks(flag) {}
  fragile(const fragile& other) : breaks(other.breaks) {
    if (breaks) throw std::runtime_error("broken");
  }
  void operator()(connection&, bytes) const {}
};

BOOST_AUTO_TEST_CASE(a_handler_that_cannot_be_moved_is_named_as_the_reason) {
  bool breaks = false;
  std::vector<error_code> refused;
  stream_pair pair;
  shared_state all;
  server srv(config{.listen = {"127.0.0.1:0"}, .model = model::single_reactor}, front{&all});
  srv.attach(&srv.main_loop(), pair.handle, fragile(breaks), [&](error_code why) { refused.push_back(why); });
  breaks = true;
  srv.main_loop().post([&]() noexcept { srv.stop(); });
  srv.run();
  BOOST_TEST((refused == std::vector<error_code>{errc::handler_threw}));
  BOOST_TEST(pair.peer->receive_rest().empty());
}

BOOST_DATA_TEST_CASE(who_listens_no_more_serves_on, bdata::make(all_models), kind) {
  running<server> srv(
      config{.listen = {"127.0.0.1:0"}, .model = kind, .advanced = {.accept = accept_strategy::reuse_port}},
      [](connection& c, bytes in) { c.write(in); });
  client before(srv->port());
  BOOST_TEST(before.send("1"));
  BOOST_TEST(before.receive(1) == "1");
  srv->stop_listening();
  BOOST_TEST(eventually([&] {
    try {
      client late(srv->port());
      return !late.send("?") || late.receive(1).empty();
    } catch (const std::runtime_error&) {
      return true;
    }
  }));
  BOOST_TEST(before.send("2"));
  BOOST_TEST(before.receive(1) == "2");
}

struct names_itself {
  std::string ends;
  void operator()(connection& c, bytes) const { c.write(ends + "\n"); }
};

BOOST_AUTO_TEST_CASE(a_factory_is_told_both_ends) {
  const auto make = [](const connection_ends& e) {
    return names_itself{e.local.to_string() + " " + std::to_string(e.peer.port())};
  };
  running<server> srv(config{.listen = {"0.0.0.0:0"}}, handler_factory(make));
  client c(srv->port(), {.host = "127.0.0.7"});
  BOOST_TEST(c.send("who"));
  const std::string ends = c.receive_line();
  BOOST_TEST(ends.starts_with("127.0.0.7:" + std::to_string(srv->port()) + " "));
  BOOST_TEST(!ends.ends_with(" 0"));
}

}  // namespace
}  // namespace quintet::test
