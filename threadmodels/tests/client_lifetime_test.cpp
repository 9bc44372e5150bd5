// SPDX-License-Identifier: BSL-1.0
// client_lifetime_test: several threads create and destroy thousands of clients, in every state.
// ctest: LABELS slow TIMEOUT 300
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/sockets.hpp"
#include "census.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/base/build/sanitizers.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace quintet::test {
namespace {

constexpr int clients = sanitized ? 10'000 : 2'500;  // a sanitizer finds the errors that this test looks for
constexpr int makers = 4;
// Messages of one conversation; afterwards the connection stays silent. Endless conversations would take the CPU from
// the threads that create and destroy: they took nine tenths of the test's time.
constexpr int messages = 10;

const auto echo = [](connection& c, bytes in) { c.write(in); };
awaitable<> talk(stream& s) {
  s.write("hello");
  for (int said = 1; const auto in = co_await s.read(); ++said)
    if (said < messages) s.write(*in);
}
using echo_server = running<server>;

/// Counts its instances, so that the test can see that none is left.
struct talker {
  std::shared_ptr<std::atomic<int>> alive;
  int said = 1;
  void on_open(connection& c) {
    ++*alive;
    c.write("hello");
  }
  void operator()(connection& c, bytes in) {
    if (said++ < messages) c.write(in);
  }
  void on_close(connection&, error_code) { --*alive; }
};

/// Returns whether the first bytes have arrived or never will: the connection was refused, or has closed before.
bool began_or_ended(const client_statistics& s) { return s.bytes_received != 0 || s.failures != 0 || s.closed != 0; }

struct fleet {
  std::vector<address> there;
  std::shared_ptr<std::atomic<int>> alive = std::make_shared<std::atomic<int>>(0);
  std::atomic<int> talked{0};

  template <class Handler>
  void one(std::mt19937& random, Handler handler) {
    client_config c{.model = all_models[random() % all_models.size()],
                    .threads = {.loops = random() % 2 ? 1U : 2U, .workers = {1, 2}}};
    if (random() % 2 == 0) c.reconnect = reconnect_options{.base = std::chrono::microseconds(100)};
    client here(c, std::move(handler));
    std::vector<link_id> links;
    const auto connect = [&] { links.push_back(here.connect(there[random() % there.size()])); };
    if (random() % 2 == 0) connect();
    const auto state = random() % 6;
    if (state == 0) return;  // never run
    if (state == 1) here.stop();
    here.run_in_background();
    for (auto n = random() % 3; n > 0; --n) connect();
    if (state == 2 && !links.empty()) here.disconnect(links[random() % links.size()]);
    if (state == 3) here.stop();
    if (state == 4)
      for (auto n = random() % 200; n > 0; --n) std::this_thread::yield();
    if (state == 5 && !links.empty()) {  // during a conversation, or between two attempts
      while (!began_or_ended(here.statistics())) std::this_thread::yield();
      ++talked;
    }
  }
  void many(unsigned seed, int count) {
    std::mt19937 random(seed);
    for (int i = 0; i < count; ++i)
      if (random() % 2 == 0)
        one(random, talker{alive});
      else
        one(random, &talk);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(thousands_of_clients) {
  const std::size_t descriptors = descriptors_of("");
  {
    echo_server first(config{.listen = {"127.0.0.1:0"}, .model = model::loop_per_thread, .threads = {.loops = 2}},
                      echo);
    const quintet::testing::own_address at;  // clients still look for the second server when it has ended
    std::optional<echo_server> gone(std::in_place, config{.listen = {at.text()}}, echo);
    fleet f{.there = {first->addresses()[0], (*gone)->addresses()[0]}};
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < makers; ++n) threads.emplace_back([&f, n] { f.many(n, clients / makers); });
    while (f.talked < 20) std::this_thread::yield();
    gone.reset();  // now one address refuses, while its clients are connected or connecting
    for (std::thread& t : threads) t.join();
    BOOST_TEST(*f.alive == 0);
    BOOST_TEST(f.talked > clients / 20);
  }
  BOOST_TEST(eventually(no_server_threads));
  BOOST_TEST(descriptors_of("") == descriptors);
}

// The hook calls connect() after each failure, even if the client is stopping.
BOOST_AUTO_TEST_CASE(a_hook_that_connects_again_and_again) {
  for (const bool drains : {false, true}) {
    std::atomic<int> failures{0};
    client* self = nullptr;
    client_config c;
    c.on_connect_failed = [&](const connect_failure&) {
      ++failures;
      self->connect("unix:@quintet-nobody-listens-here");
    };
    client here(c, talker{std::make_shared<std::atomic<int>>(0)});
    self = &here;
    here.connect("unix:@quintet-nobody-listens-here");
    if (drains) here.drain(std::chrono::milliseconds(10));
    here.run_in_background();
    BOOST_TEST(eventually([&] { return failures > 2; }));
    if (!drains) here.stop();
    here.join();
  }
}

// A client and a server in one program; either may be destroyed first.
BOOST_AUTO_TEST_CASE(in_any_order_relative_to_servers) {
  for (int i = 0; i < 50; ++i) {
    auto alive = std::make_shared<std::atomic<int>>(0);
    const quintet::testing::own_address at;
    auto there = std::make_unique<echo_server>(config{.listen = {at.text()}}, echo);
    auto here =
        std::make_unique<client>(client_config{.model = all_models[static_cast<unsigned>(i) % 5]}, talker{alive});
    here->run_in_background();
    here->connect(at.at());
    if (i % 3 != 0) BOOST_TEST(eventually([&] { return here->statistics().bytes_received > 0; }));
    if (i % 2 == 0) there.reset();
    here.reset();
    BOOST_TEST(*alive == 0);
  }
}

}  // namespace quintet::test
