// SPDX-License-Identifier: BSL-1.0
// shared_memory_client_test: the client for programs without a loop: connecting to a slow server, signals, and fork().
// ctest: NOT_UNDER thread
#include <boost/test/unit_test.hpp>

#include "forked.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/engine/shm/offer.hpp>
#include <quintet/net/shared_memory_client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>

namespace quintet::test {
namespace {

/// Listens for offers, accepts nobody by itself, and has a backlog that is full.
struct full_backlog {
  full_backlog() {
    const address to(at + ".shm");
    BOOST_REQUIRE(::bind(listening.get(), to.data(), to.size()) == 0);
    BOOST_REQUIRE(::listen(listening.get(), 0) == 0);
    for (;;) {
      file_descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (::connect(fd.get(), to.data(), to.size()) != 0) break;
      waiting.push_back(std::move(fd));
    }
    BOOST_REQUIRE(!waiting.empty());
  }
  file_descriptor accept() const { return file_descriptor(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

  const std::string at = fresh_unix_address();
  const file_descriptor listening{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::vector<file_descriptor> waiting;
};

const auto timed_out = [](const boost::system::system_error& e) { return e.code() == boost::system::errc::timed_out; };

BOOST_AUTO_TEST_CASE(the_time_limit_includes_a_full_backlog) {
  const full_backlog server;
  BOOST_CHECK_EXCEPTION(shared_memory_client(server.at, {.timeout = std::chrono::milliseconds(20)}),
                        boost::system::system_error, timed_out);
  BOOST_CHECK_EXCEPTION(shared_memory_client(server.at, {.timeout = duration::zero()}), boost::system::system_error,
                        timed_out);
}

std::atomic<int> signals{0};

BOOST_AUTO_TEST_CASE(a_signal_does_not_end_an_attempt_to_connect) {
  full_backlog server;
  struct sigaction counts{};
  counts.sa_handler = [](int) { ++signals; };  // without SA_RESTART
  BOOST_REQUIRE(::sigaction(SIGUSR1, &counts, nullptr) == 0);
  std::promise<pthread_t> thread;
  auto connected = std::async(std::launch::async, [&] {
    thread.set_value(::pthread_self());
    return std::make_unique<shared_memory_client>(server.at, shared_memory_client::options{.timeout = duration::max()});
  });
  const pthread_t connecting = thread.get_future().get();
  for (int sent = 0; sent < 50;) {
    if (signals < sent) {
      ::sched_yield();
    } else if (connected.wait_for(std::chrono::seconds(0)) != std::future_status::timeout) {
      break;
    } else {
      BOOST_REQUIRE(::pthread_kill(connecting, SIGUSR1) == 0);
      ++sent;
    }
  }
  const std::size_t before = server.waiting.size();
  for (std::size_t i = 0; i < before; ++i) (void)server.accept();
  const file_descriptor accepted = server.accept();
  stream_handle to(accepted.get());
  shm::segment_offerer({.ring_size = 4096}).offer_to(to);
  BOOST_TEST(connected.get()->ring_size() == 4096U);
}

// ---- fork() ---------------------------------------------------------------------------------------------------------

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};

// As a static object in a child that calls exit().
BOOST_AUTO_TEST_CASE(a_child_process_that_destroys_its_copy_of_a_client_ends_nothing) {
  const std::string at = fresh_unix_address();
  std::optional<shared_memory_client> c;
  running<server> srv(config{.listen = {{at, {.upgrade = connection_upgrade::shared_memory}}}}, echo());
  c.emplace(at);
  {
    forked child([&c] {
      c.reset();
      return 0;
    });
    BOOST_TEST(eventually([&] { return child.ended().has_value(); }));
    BOOST_TEST(*child.ended() == 0);
  }
  c->send("still open");
  std::string back;
  while (back.size() < 10 && c->wait()) {
    back += c->peek();
    c->release(c->peek().size());
  }
  BOOST_TEST(back == "still open");
}

struct pausing {
  void on_open(connection& c) const { c.pause_reading(); }
  void operator()(connection&, bytes) const {}
};

BOOST_AUTO_TEST_CASE(a_server_that_reads_nothing_does_not_hold_a_sender_for_ever) {
  const std::string at = fresh_unix_address();
  const config over_memory{.listen = {{at, {.upgrade = connection_upgrade::shared_memory}}}};
  running<server> srv(over_memory, pausing());
  shared_memory_client sender(at, {.send_timeout = std::chrono::milliseconds(20)});
  BOOST_TEST(!sender.send(std::string(16 * 1024 * 1024, 'x')));
}

}  // namespace
}  // namespace quintet::test
