// SPDX-License-Identifier: BSL-1.0
// embed: two servers in a program with a loop of its own. That loop drives one; the other has its own threads.
#include "common/options.hpp"

#include <quintet/net/file_descriptor.hpp>

#include <boost/system/system_error.hpp>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/timerfd.h>

namespace {

[[noreturn]] void fail(const char* what) {
  throw boost::system::system_error(errno, boost::system::system_category(), what);
}

/// The program's own work, independent of Quintet: counts the ticks of a clock.
class business {
 public:
  explicit business(std::size_t tick_ms) : clock_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    itimerspec every{};
    every.it_interval = {static_cast<time_t>(tick_ms / 1000), static_cast<long>(tick_ms % 1000) * 1'000'000};
    every.it_value = every.it_interval;
    if (!clock_ || ::timerfd_settime(clock_.get(), 0, &every, nullptr) != 0) fail("cannot create a timer");
  }
  [[nodiscard]] int descriptor() const noexcept { return clock_.get(); }
  void work() {
    std::uint64_t passed = 0;
    if (::read(clock_.get(), &passed, sizeof passed) == sizeof passed) ticks_ += passed;
  }
  [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_; }

 private:
  quintet::file_descriptor clock_;
  std::uint64_t ticks_ = 0;  // only for the program's thread
};

/// Answers each line with the number of ticks. Needs no lock: the program's loop runs it on the program's thread.
struct report {
  const business* of;
  std::size_t operator()(quintet::connection& c, quintet::bytes in) const {
    std::size_t used = 0;
    for (std::size_t end; (end = in.find('\n', used)) != in.npos; used = end + 1)
      c.write(std::to_string(of->ticks()) + " ticks\n");
    return used;
  }
};

/// Runs a server on a thread of its own. The destructor stops the server.
template <class Server>
class in_background {
 public:
  explicit in_background(Server& server)
      : server_(server), thread_([this] {
          try {
            server_.run();
          } catch (...) {
            failure_ = std::current_exception();
          }
        }) {}
  ~in_background() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  in_background(const in_background&) = delete;
  in_background& operator=(const in_background&) = delete;
  /// Waits until the server has stopped or drained. Rethrows an exception of run().
  void join() {
    thread_.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  Server& server_;
  std::exception_ptr failure_;
  std::thread thread_;
};

/// The program's own loop. Each turn waits for the program's own descriptor and for the server's, in one poll().
template <class Server>
void run_until_finished(business& own, Server& driven) {
  quintet::event_loop& loop = driven.main_loop();
  driven.start();
  while (!loop.finished()) {
    const auto server = loop.wait_outside();
    std::array<pollfd, 2> watched{{{own.descriptor(), POLLIN, 0}, {server.descriptor, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), server.milliseconds()) < 0 && errno != EINTR) fail("cannot wait");
    if (watched[0].revents != 0) own.work();
    loop.poll();
  }
  driven.finish();
}

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7041"});
  std::size_t report_port = 7042, tick_ms = 100;
  example::command_line(
      "embed", "A program with its own event loop, an echo server on another thread, and a second server on that loop.")
      .server(config)
      .number("--report-port", report_port, 0, 65535, "port of the server that the program's own loop drives")
      .number("--tick-ms", tick_ms, 1, 60'000, "interval of the program's own timer, in milliseconds")
      .try_it(
          "  embed --model reactor_pool &\n  nc 127.0.0.1 7041           # echo\n  echo | nc 127.0.0.1 7042    # ticks")
      .parse(argc, argv);
  try {
    business own(tick_ms);
    quintet::server echo(config, [](quintet::connection& c, quintet::bytes in) { c.write(in); });
    auto inside =
        quintet::config::public_defaults({quintet::join_address("127.0.0.1", static_cast<std::uint16_t>(report_port))});
    inside.model = quintet::model::single_reactor;
    quintet::server reports(inside, report{&own});
    const quintet::signal_guard drainer(reports.main_loop(), {SIGINT, SIGTERM}, [&] {
      echo.drain(example::drain_time);
      reports.drain(example::drain_time);
    });
    example::announce("embed", config, true, echo.addresses());
    example::announce("reports", inside, false, reports.addresses());
    in_background serving(echo);
    run_until_finished(own, reports);
    serving.join();
  } catch (...) {
    return example::report_exception("embed");
  }
}
