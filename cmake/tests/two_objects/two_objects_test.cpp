// SPDX-License-Identifier: BSL-1.0
// two_objects_test: two shared objects, each with its own Quintet, serve in one process at once.
#include "client.hpp"
#include "copies.hpp"
#include "waiting.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>

namespace quintet::test {
namespace {

const std::vector<const char*> models{"thread_per_connection", "single_reactor", "reactor_pool", "loop_per_thread",
                                      "loop_per_thread_pool"};

/// Runs a server of one copy on a thread of the program.
class serving {
 public:
  serving(const copy& c, const char* model, int signal = 0)
      : copy_(c), server_(c.make(model)), thread_([this, signal] { copy_.run(server_, signal); }) {}
  serving(const serving&) = delete;
  serving& operator=(const serving&) = delete;
  ~serving() {
    copy_.drain(server_);
    join();
    copy_.destroy(server_);
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::uint16_t port() const { return copy_.port(server_); }

 private:
  const copy& copy_;
  void* server_;
  std::thread thread_;
};

std::string ask(client& c, const std::string& question) {
  c.send(question + "\n");
  return c.receive_line();
}

std::string ask(std::uint16_t port) {
  client c(port);
  return ask(c, "hello");
}

std::size_t entries_of(const char* directory) {
  const auto all = std::filesystem::directory_iterator(directory);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

// Tests all pairs of models. A client of each copy talks to the server of the other copy.
BOOST_AUTO_TEST_CASE(both_serve_at_once_under_all_models) {
  const copies both;
  for (std::size_t i = 0; i < models.size() * models.size(); ++i) {
    const char *one = models[i / models.size()], *other = models[i % models.size()];
    const serving left(*both.left, one), right(*both.right, other);
    std::vector<client> lefts, rights;
    for (int n = 0; n < 3; ++n) {
      lefts.emplace_back(left.port());
      rights.emplace_back(right.port());
    }
    for (int n = 0; n < 30; ++n) {
      BOOST_TEST(ask(lefts[static_cast<std::size_t>(n % 3)], "hello") == "left hello");
      BOOST_TEST(ask(rights[static_cast<std::size_t>(n % 3)], "hello") == "right hello");
    }
    bool answered = false;
    std::thread calling([&] { answered = both.left->call(one, right.port(), "right"); });
    BOOST_TEST(both.right->call(other, left.port(), "left"));
    calling.join();
    BOOST_TEST(answered);
  }
}

BOOST_AUTO_TEST_CASE(their_errors_are_equal) {
  const copies both;
  BOOST_TEST((both.left->category() == both.right->category()) == copies::share_functions);
  BOOST_TEST(both.left->error(1) == both.right->error(1));
  BOOST_TEST(both.left->error(1) != both.right->error(2));
  BOOST_TEST(both.left->error(2).message() == both.right->error(2).message());
  BOOST_TEST(both.left->error(1) != boost::system::error_code(1, boost::system::system_category()));
}

BOOST_AUTO_TEST_CASE(each_knows_its_own_loop) {
  const copies both;
  struct inner {
    const copy* which;
    bool right = false;
  } in{both.right};
  const auto enter = [](void* with) {
    auto& i = *static_cast<inner*>(with);
    i.right = i.which->within([](void*) {}, nullptr);
  };
  BOOST_TEST(both.left->within(enter, &in));
  BOOST_TEST(in.right);
}

// Each copy has its own signal; then both register for one signal, which goes to the last one that registered.
BOOST_AUTO_TEST_CASE(signals_go_to_whom_they_are_for) {
  const copies both;
  {
    serving left(*both.left, models[3], SIGUSR1), right(*both.right, models[2], SIGUSR2);
    BOOST_TEST(ask(left.port()) == "left hello");  // it runs, so it has registered for its signal
    BOOST_TEST(ask(right.port()) == "right hello");
    ::kill(::getpid(), SIGUSR2);
    right.join();
    BOOST_TEST(ask(left.port()) == "left hello");
    ::kill(::getpid(), SIGUSR1);
    left.join();
  }
  serving left(*both.left, models[3], SIGUSR1);
  BOOST_TEST(ask(left.port()) == "left hello");
  {
    serving right(*both.right, models[2], SIGUSR1);
    BOOST_TEST(ask(right.port()) == "right hello");
    ::kill(::getpid(), SIGUSR1);
    right.join();
    BOOST_TEST(ask(left.port()) == "left hello");
  }
  ::kill(::getpid(), SIGUSR1);
  left.join();
}

// The objects are closed while a thread lives that has run a server of each, and may have thread-local state of both.
BOOST_AUTO_TEST_CASE(opened_and_closed_again_and_again) {
  const std::size_t descriptors = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
  for (int i = 0; i < 20; ++i) {
    std::optional<copies> both(std::in_place);
    std::thread last([&both] {
      for (const copy* c : {both->left, both->right}) {
        void* const server = c->make(models[1]);
        c->drain(server);
        c->run(server, 0);
        c->destroy(server);
      }
      both.reset();
    });
    last.join();
  }
  BOOST_TEST(entries_of("/proc/self/fd") == descriptors);
  // The kernel wakes a joining thread shortly before it removes the ended thread from its list.
  BOOST_TEST(eventually([&] { return entries_of("/proc/self/task") == threads; }));
}

}  // namespace quintet::test
