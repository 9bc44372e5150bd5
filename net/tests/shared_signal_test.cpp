// SPDX-License-Identifier: BSL-1.0
// shared_signal_test: the signal that wakes threads in recv, in a program that had a handler for it before.
#include <quintet/net/engine/blocking_engine.hpp>
#include <quintet/net/loop/loop_thread.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>

#include <signal.h>
#include <sys/socket.h>

using namespace quintet;

namespace {

std::atomic<int> informed{0};
void count_informed(int, siginfo_t* info, void*) { informed += info->si_pid == ::getpid(); }

struct listening : stream_channel, loop_member {
  explicit listening(event_loop& l, int handle) : loop(l) {
    BOOST_TEST(!loop.io().add(*this, handle));
    loop.join(*this);
  }
  void on_received(bytes) override {}
  void on_receive_end(error_code) override {}
  void on_sendable() override {}
  void abort() noexcept override {
    loop.io().remove(*this);
    loop.leave(*this);
  }
  event_loop& loop;
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_not_for_the_library_goes_to_whom_it_was_for_before) {
  struct sigaction mine{};
  mine.sa_sigaction = &count_informed;
  mine.sa_flags = SA_SIGINFO;
  BOOST_TEST(::sigaction(blocking_engine::wake_signal, &mine, nullptr) == 0);
  std::array<int, 2> ends{};
  BOOST_TEST(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  for (int i = 0; i < 100; ++i) {
    event_loop loop(make_blocking_engine());
    ::raise(blocking_engine::wake_signal);  // not for this thread, which waits in no call
    const listening peer(loop, ends[0]);
    loop_thread thread(loop, "test-loop");
    std::atomic<int> ran{0};
    for (int n = 1; n <= 20; ++n) {
      loop.post([&] {
        ++ran;
        ran.notify_one();
      });
      ran.wait(n - 1);
    }
  }
  BOOST_TEST(informed == 100);
  for (const int end : ends) ::close(end);
}
