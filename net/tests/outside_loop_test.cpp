// SPDX-License-Identifier: BSL-1.0
// outside_loop_test: loops driven by a program that waits by itself, in poll(2).
// ctest: EACH_ENGINE
#include <quintet/net/asio.hpp>
#include <quintet/net/client/basic_client.hpp>
#include <quintet/net/server/basic_server.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>
#include "needs.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

using namespace quintet;
using namespace std::chrono_literals;

namespace {

/// Until all of them have finished.
void drive(const std::vector<event_loop*>& loops) {
  const auto finished = [&] { return std::ranges::all_of(loops, [](event_loop* l) { return l->finished(); }); };
  while (!finished()) {
    std::vector<pollfd> watched;
    int longest = -1;
    for (event_loop* l : loops) {
      const event_loop::outside_wait w = l->wait_outside();
      BOOST_TEST((w.descriptor >= 0 || (w.milliseconds() >= 0 && w.milliseconds() <= 1)));
      watched.push_back({w.descriptor, POLLIN, 0});
      if (!l->finished() && w.milliseconds() >= 0)
        longest = longest < 0 ? w.milliseconds() : std::min(longest, w.milliseconds());
    }
    (void)::poll(watched.data(), watched.size(), longest);
    for (event_loop* l : loops) l->poll();
  }
}

/// All connections on the main loop, handlers there as well.
struct inline_model {
  void start(event_loop& main) { loop = &main; }
  event_loop& place() { return *loop; }
  void run(work_item& item) { item(); }
  void stop() {}
  event_loop* loop = nullptr;
};

}  // namespace

BOOST_AUTO_TEST_CASE(milliseconds_are_never_too_few) {
  const auto of = [](duration d) { return event_loop::outside_wait{-1, d}.milliseconds(); };
  BOOST_TEST(of(engine::forever) == -1);
  BOOST_TEST(of(0ns) == 0);
  BOOST_TEST(of(1ns) == 1);
  BOOST_TEST(of(1ms) == 1);
  BOOST_TEST(of(engine::forever - 1ns) == engine::longest_wait / 1ms);
}

// However often the outer loop looks, and whatever wake-ups came before.
BOOST_AUTO_TEST_CASE(a_post_makes_its_descriptor_readable_until_the_next_turn) {
  event_loop loop;
  const auto is_readable = [](int descriptor) {
    pollfd watched{descriptor, POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
  };
  for (int i = 0; i < 3; ++i) {
    while (loop.poll()) {
    }
    const event_loop::outside_wait w = loop.wait_outside();
    if (w.descriptor < 0) return;
    BOOST_TEST(!is_readable(w.descriptor));
    std::thread([&] { loop.post([] {}); }).join();
    for (int looks = 0; looks < 3; ++looks) BOOST_TEST(is_readable(w.descriptor));
  }
  loop.poll();
}

// Each waits for the one before to have run: one that is missed would be missed for ever.
BOOST_AUTO_TEST_CASE(a_post_wakes_it_every_time) {
  event_loop loop;
  std::atomic<int> ran{0};
  std::thread posting([&] {
    for (int i = 0; i < 5000; ++i) {
      const auto count = [&] {
        ++ran;
        ran.notify_one();
      };
      if (i % 3 == 0)
        boost::asio::post(loop.get_executor(), count);
      else
        loop.post(count);
      ran.wait(i);
    }
    loop.stop();
  });
  drive({&loop});
  posting.join();
  BOOST_TEST(ran == 5000);
}

BOOST_AUTO_TEST_CASE(timers_of_all_kinds_fire) {
  event_loop loop;
  std::string fired;
  loop.after(3ms, [&] {
    fired += 'l';
    // From within the loop's own timers: it is not known to the guest before the next look.
    auto timer = std::make_shared<boost::asio::steady_timer>(loop.get_executor(), 3ms);
    timer->async_wait([&, timer](const error_code&) {
      fired += 'a';
      loop.after(1ms, [&] {
        fired += 'e';
        loop.stop();
      });
    });
  });
  drive({&loop});
  BOOST_TEST(fired == "lae");
}

BOOST_AUTO_TEST_CASE(a_server_and_its_client_on_one_thread) {
  const auto echo = [](connection& c, bytes in) { c.write(in); };
  struct counting {
    std::string* got;
    void on_open(connection& c) const { c.write("hello"); }
    void operator()(connection& c, bytes in) const {
      *got += in;
      if (got->size() >= 500) return c.close();
      c.write(in);
    }
  };
  std::string got;
  basic_server server({.listen = {"127.0.0.1:0"}}, inline_model(), echo);
  basic_client client({}, inline_model(), counting{&got});
  server.start();
  client.start();
  client.connect(testing::loopback_name() + ':' + std::to_string(server.port()));  // a name: that is the guest's work
  std::thread waiting([&] {
    while (client.links() > 0) std::this_thread::yield();
    client.drain(1min);
    server.drain(1min);
  });
  drive({&server.main_loop(), &client.main_loop()});
  waiting.join();
  client.finish();
  server.finish();
  BOOST_TEST(got.size() >= 500U);
}
