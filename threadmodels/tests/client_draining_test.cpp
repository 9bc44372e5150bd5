// SPDX-License-Identifier: BSL-1.0
// client_draining_test: clients drain under load, in every model. Every executed request has been answered.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/sockets.hpp"
#include "census.hpp"
#include "combination.hpp"
#include "journal.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <string>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr int links = 16;
constexpr std::chrono::seconds deadline{30};

struct counts {
  std::atomic<int> answers{0}, goodbyes{0}, ended{0};  // the server's side
  std::atomic<int> executed{0};                        // the client's
};

/// Sends questions as long as it gets answers. A question is a byte, and so is its answer.
struct asking {
  counts* all;
  void on_open(connection& c) const { c.write("????"); }
  void operator()(connection& c, bytes in) const {
    for (const char answer : in) {
      ++(answer == '.' ? all->goodbyes : all->answers);
      c.write("?");
    }
  }
  void on_close(connection&, error_code) const { ++all->ended; }
};

struct answering {
  counts* all;
  void operator()(connection& c, bytes in) const {
    all->executed += static_cast<int>(in.size());
    c.write(std::string(in.size(), '!'));
  }
  void on_drain(connection& c) const { c.write("."); }
};
struct answering_coroutine {
  counts* all;
  awaitable<> operator()(stream& s) const {
    while (const auto in = co_await s.read()) {
      const std::string questions(*in);
      co_await s.offload([&] { answering{all}(s, questions); });
    }
    if (s.draining()) s.write(".");
  }
};

template <class Handler>
void drain_under_load(model kind) {
  counts all;
  running<server> there(config{.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 2}}, asking{&all});
  client here(client_config{.model = kind,
                            .threads = {.loops = 2, .workers = {1, 2}},
                            .reconnect = reconnect_options{.base = std::chrono::milliseconds(1)}},
              Handler{&all});
  here.run_in_background();
  for (int i = 0; i < links; ++i) here.connect(there->addresses()[0]);
  BOOST_TEST(eventually([&] { return here.statistics().opened == links && all.answers > 20 * links; }));
  here.drain(deadline);
  here.join();
  BOOST_TEST(here.links() == 0U);
  BOOST_TEST(here.statistics().closed == static_cast<unsigned>(links));  // and none of them was connected again
  BOOST_TEST(eventually([&] { return all.ended == links; }));
  BOOST_TEST(all.goodbyes == links);
  BOOST_TEST(all.answers == all.executed);
}

BOOST_DATA_TEST_CASE(what_was_executed_is_answered, data::make(all_combinations) * data::xrange(5), under, round) {
  (void)round;
  if (under.is_coroutine())
    drain_under_load<answering_coroutine>(under.kind);
  else
    drain_under_load<answering>(under.kind);
}

BOOST_DATA_TEST_CASE(before_it_runs_and_without_a_run, data::make(all_models), kind) {
  counts all;
  client(client_config{.model = kind}, answering{&all}).drain(deadline);
  client here(client_config{.model = kind}, answering{&all});
  here.drain(deadline);
  here.run();
  BOOST_CHECK_THROW(here.run(), std::logic_error);
  BOOST_CHECK_THROW(here.run_in_background(), std::logic_error);
}

BOOST_AUTO_TEST_CASE(on_a_signal) {
  counts all;
  running<server> there(config{.listen = {"127.0.0.1:0"}}, asking{&all});
  client here(client_config{}, answering{&all});
  const drain_on_signals drainer(here, deadline, {SIGUSR1});
  here.connect(there->addresses()[0]);
  bool answered = false;
  std::thread sender([&] {
    answered = eventually([&] { return all.answers > 0; });
    ::kill(::getpid(), SIGUSR1);
  });
  here.run();
  sender.join();
  BOOST_TEST(answered);
  BOOST_TEST(eventually([&] { return all.goodbyes == 1; }));
}

struct touchy {
  void on_open(connection&) const { throw std::runtime_error("touched"); }
  void operator()(connection&, bytes) const {}
};

BOOST_DATA_TEST_CASE(what_a_client_tells_its_log, data::make(all_models), kind) {
  counts all;
  journal log;
  const quintet::testing::own_address silent;
  const std::string nobody = silent.at().to_string();
  running<server> there(config{.listen = {"127.0.0.1:0"}}, asking{&all});
  client here(client_config{.model = kind, .log = log.hook()}, touchy());
  here.run_in_background();
  here.connect(nobody);
  here.connect(there->addresses()[0]);
  BOOST_TEST(eventually([&] { return log.size() == 2; }));
  BOOST_TEST(log.has("warning: " + nobody, ": cannot connect: Connection refused"));
  BOOST_TEST(log.has("warning: " + there->addresses()[0].to_string(), ": a handler threw an exception: touched"));
  here.drain(deadline);
  here.join();
  BOOST_TEST(log.has("info: draining", ""));
}

}  // namespace
}  // namespace quintet::test
