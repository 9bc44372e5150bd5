// SPDX-License-Identifier: BSL-1.0
// blocking_io_test: signals in the middle of sends and receives with a time limit lose nothing.
#include <quintet/net/engine/socket_services.hpp>

#include "load/blocking_io.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <string>
#include <thread>

#include <pthread.h>
#include <sys/time.h>

using namespace quintet::bench;

namespace {

struct pair_of_sockets {
  pair_of_sockets() {
    std::array<int, 2> both{};
    BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()) == 0);
    here = unique_fd(both[0]);
    there = unique_fd(both[1]);
    const timeval long_time{.tv_sec = 60, .tv_usec = 0};  // without one a receive is restarted by the kernel
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
      ::setsockopt(here.get(), SOL_SOCKET, option, &long_time, sizeof long_time);
      ::setsockopt(there.get(), SOL_SOCKET, option, &long_time, sizeof long_time);
    }
  }
  unique_fd here, there;
};

/// Interrupts the thread that made it for as long as it lives.
class interrupter {
 public:
  interrupter() {
    struct sigaction nothing{};
    nothing.sa_handler = [](int) {};
    nothing.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &nothing, &before_);
    thread_ = std::jthread([target = ::pthread_self()](const std::stop_token& end) {
      while (!end.stop_requested()) {
        ::pthread_kill(target, SIGUSR1);
        std::this_thread::yield();
      }
    });
  }
  ~interrupter() {
    thread_.request_stop();
    thread_.join();
    ::sigaction(SIGUSR1, &before_, nullptr);
  }

 private:
  struct sigaction before_{};
  std::jthread thread_;
};

constexpr std::size_t much = 64U << 20U;

}  // namespace

BOOST_AUTO_TEST_CASE(a_receive_goes_on_after_signals) {
  const pair_of_sockets sockets;
  bool sent = false;
  std::jthread sender([&] { sent = send_whole(sockets.there, std::string(much, 'x')); });
  std::string got(much, '\0');
  {
    const interrupter signals;
    BOOST_TEST(receive_whole(sockets.here, got) == much);
  }
  sender.join();
  BOOST_TEST(sent);
  BOOST_TEST((got == std::string(much, 'x')));
}

BOOST_AUTO_TEST_CASE(a_send_goes_on_after_signals) {
  const pair_of_sockets sockets;
  std::size_t arrived = 0;
  std::jthread receiver([&] {
    std::string got(much, '\0');
    arrived = receive_whole(sockets.there, got);
  });
  {
    const interrupter signals;
    BOOST_TEST(send_whole(sockets.here, std::string(much, 'x')));
  }
  receiver.join();
  BOOST_TEST(arrived == much);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_stream_and_a_broken_one_are_told) {
  pair_of_sockets sockets;
  BOOST_TEST(send_whole(sockets.there, "abc"));
  ::shutdown(sockets.there.get(), SHUT_WR);
  std::array<char, 8> into{};
  BOOST_TEST(receive_whole(sockets.here, into) == 3U);
  BOOST_TEST(receive_some(sockets.here, into) == 0);
  sockets.there.reset();
  BOOST_TEST(!send_whole(sockets.here, "x"));
}
