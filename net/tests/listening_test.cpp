// SPDX-License-Identifier: BSL-1.0
// listening_test: listening on each kind of address: separate families, files of Unix sockets, inherited sockets.
#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/server/listener.hpp>

#include "needs.hpp"
#include "sockets.hpp"

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <barrier>
#include <fstream>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace quintet;
using namespace quintet::testing;

namespace {

void ignore(int fd) { ::close(fd); }

bool exists(const std::string& path) {
  struct stat found{};
  return ::lstat(path.c_str(), &found) == 0;
}

/// Leaves a socket file on which nothing listens.
void leave_stale(const std::string& path) {
  const address at("unix:" + path);
  const file_descriptor fd = socket_for(at);
  BOOST_REQUIRE(::bind(fd.get(), at.data(), at.size()) == 0);
  BOOST_REQUIRE(::listen(fd.get(), 1) == 0);
}

auto in_use(const std::string& named) {
  return [named](const boost::system::system_error& e) {
    return e.code() == boost::system::errc::address_in_use && std::string(e.what()).find(named) != std::string::npos;
  };
}

}  // namespace

// Tests rely on it whose servers come and go while clients look for them.
BOOST_AUTO_TEST_CASE(the_port_of_an_own_address_goes_to_nobody_else) {
  const own_address own;
  BOOST_TEST(!can_connect(own.at()));
  for (int i = 0; i < 3; ++i) {
    event_loop loop;
    const listener here(loop, own.text(), ignore);
    BOOST_TEST(can_connect(own.at()));
  }
  BOOST_TEST(!can_connect(own.at()));
  const file_descriptor other = socket_for(own.at());
  BOOST_TEST(::bind(other.get(), own.at().data(), own.at().size()) != 0);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(needs_ipv6))
BOOST_AUTO_TEST_CASE(ipv6_is_for_ipv6_only_unless_dual_stack_is_asked_for) {
  event_loop loop;
  const listener only(loop, "[::]:0", ignore), both(loop, {"[::]:0", {.dual_stack = true}}, ignore);
  BOOST_TEST(can_connect(address(join_address("::1", only.at().port()))));
  BOOST_TEST(!can_connect(address(join_address("127.0.0.1", only.at().port()))));
  BOOST_TEST(can_connect(address(join_address("::1", both.at().port()))));
  BOOST_TEST(can_connect(address(join_address("127.0.0.1", both.at().port()))));
  const listener same_port(loop, join_address("0.0.0.0", only.at().port()), ignore);  // the families do not conflict
  BOOST_TEST(same_port.at().port() == only.at().port());
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(needs_ipv6))
BOOST_AUTO_TEST_CASE(a_listener_says_who_connects) {
  event_loop loop;
  std::string peer;
  const auto note = [&](int fd) {
    peer = loop.io().sockets().peer_address(fd);
    ::close(fd);
  };
  const scratch_directory dir;
  listener both(loop, {"[::]:0", {.dual_stack = true}}, note), v6(loop, "[::1]:0", note),
      path(loop, "unix:" + dir.file("s"), note);
  const auto peer_through = [&](const address& to) {
    peer.clear();
    const file_descriptor fd = connected_to(to);
    while (peer.empty()) loop.poll();
    return peer;
  };
  for (listener* l : {&both, &v6, &path}) l->start();
  BOOST_TEST(peer_through(address(join_address("127.0.0.1", both.at().port()))).starts_with("127.0.0.1:"));
  BOOST_TEST(peer_through(v6.at()).starts_with("[::1]:"));
  BOOST_TEST(peer_through(path.at()) == "unix:");
}

BOOST_AUTO_TEST_CASE(the_file_of_a_unix_socket_comes_and_goes_with_its_listener) {
  const scratch_directory dir;
  const std::string file = dir.file("socket");
  event_loop loop;
  {
    const listener l(loop, {"unix:" + file, {.mode = 0601}}, ignore);
    struct stat made{};
    BOOST_REQUIRE(::lstat(file.c_str(), &made) == 0);
    BOOST_TEST((made.st_mode & 07777) == 0601u);
    BOOST_TEST(l.at().to_string() == "unix:" + file);
    BOOST_TEST(can_connect(l.at()));
  }
  BOOST_TEST(!exists(file));
}

BOOST_AUTO_TEST_CASE(a_stale_socket_is_replaced_and_a_live_one_is_not) {
  const scratch_directory dir;
  const std::string file = dir.file("socket");
  leave_stale(file);
  event_loop loop;
  const listener l(loop, "unix:" + file, ignore);
  BOOST_TEST(can_connect(l.at()));
  BOOST_CHECK_EXCEPTION(listener(loop, "unix:" + file, ignore), boost::system::system_error, in_use("unix:" + file));
  BOOST_TEST(can_connect(l.at()));  // the failed attempt has not changed the file
}

// The next server meets the last one in its last moments.
BOOST_AUTO_TEST_CASE(a_server_that_ends_makes_room_for_the_next_one) {
  const scratch_directory dir;
  const std::string file = dir.file("socket");
  event_loop loop;
  std::optional<listener> last(std::in_place, loop, "unix:" + file, ignore);
  auto next = std::async(std::launch::async, [&] {
    event_loop other;
    const listener l(other, "unix:" + file, ignore);
    return can_connect(l.at());
  });
  pollfd asked{last->handle(), POLLIN, 0};
  BOOST_REQUIRE(::poll(&asked, 1, 10'000) == 1);  // the next one has looked whether somebody listens
  last.reset();
  BOOST_TEST(next.get());
  BOOST_TEST(!exists(file));
}

// Two sockets that do not listen yet may be bound to one port.
BOOST_AUTO_TEST_CASE(of_many_that_want_a_port_for_their_loops_one_gets_it) {
  for (int round = 0; round < 100; ++round) {
    const own_address own;
    std::atomic<int> won{0};
    std::barrier together(4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        event_loop loop;
        std::optional<listener> l;
        together.arrive_and_wait();
        try {
          l.emplace(loop, listen_options(own.text(), {.sharing = port_sharing::first_loop}), ignore);
          ++won;
        } catch (const boost::system::system_error&) {  // in use
        }
        together.arrive_and_wait();
      });
    for (std::thread& t : threads) t.join();
    BOOST_TEST(won == 1);
  }
}

// If several listeners find the same stale file at the same time, exactly one of them gets it.
BOOST_AUTO_TEST_CASE(of_many_that_replace_a_stale_socket_one_wins_and_stays) {
  const scratch_directory dir;
  const std::string file = dir.file("socket");
  for (int round = 0; round < 20; ++round) {
    leave_stale(file);
    std::atomic<int> won{0};
    std::barrier begin(4), listened(4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        event_loop loop;
        std::optional<listener> l;
        begin.arrive_and_wait();
        try {
          l.emplace(loop, "unix:" + file, ignore);
          ++won;
        } catch (const boost::system::system_error&) {  // in use
        }
        listened.arrive_and_wait();
        if (l && !can_connect(l->at())) won = -100;
        listened.arrive_and_wait();
      });
    for (std::thread& t : threads) t.join();
    BOOST_TEST(won == 1);
    BOOST_TEST(!exists(file));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_socket_is_never_removed) {
  const scratch_directory dir;
  const std::string file = dir.file("precious");
  std::ofstream(file) << "data";
  event_loop loop;
  BOOST_CHECK_EXCEPTION(listener(loop, "unix:" + file, ignore), boost::system::system_error, in_use("not a socket"));
  BOOST_TEST(exists(file));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_another_by_now_stays) {
  const scratch_directory dir;
  const std::string file = dir.file("socket");
  event_loop loop;
  {
    const listener l(loop, "unix:" + file, ignore);
    BOOST_REQUIRE(::rename(file.c_str(), dir.file("moved").c_str()) == 0);  // keeps the inode number in use
    leave_stale(file);
  }
  BOOST_TEST(exists(file));
}

// A process that may write to the directory replaces the socket's file by a symbolic link at once.
BOOST_AUTO_TEST_CASE(the_mode_is_set_of_no_file_that_takes_the_sockets_place) {
  const scratch_directory dir;
  const std::string file = dir.file("socket"), precious = dir.file("precious"), link = dir.file("link");
  std::ofstream(precious) << "data";
  BOOST_REQUIRE(::chmod(precious.c_str(), 0600) == 0);
  std::atomic<bool> over{false};
  std::thread replaces([&] {
    while (!over) {
      (void)!::symlink(precious.c_str(), link.c_str());
      if (exists(file)) (void)::rename(link.c_str(), file.c_str());
    }
  });
  struct stat found{};
  for (int i = 0; i < 3000; ++i) {
    try {
      event_loop loop;
      const listener l(loop, {"unix:" + file, {.mode = 0666}}, ignore);
    } catch (const boost::system::system_error&) {  // the file was replaced
    }
    ::unlink(file.c_str());
    BOOST_REQUIRE(::stat(precious.c_str(), &found) == 0);
    if ((found.st_mode & 07777) != 0600) break;
  }
  over = true;
  replaces.join();
  BOOST_TEST((found.st_mode & 07777) == 0600u);
}

BOOST_AUTO_TEST_CASE(a_directory_that_does_not_exist_is_an_error_with_the_address) {
  event_loop loop;
  BOOST_CHECK_EXCEPTION(listener(loop, "unix:/nowhere/socket", ignore), boost::system::system_error, [](const auto& e) {
    return e.code() == boost::system::errc::no_such_file_or_directory &&
           std::string(e.what()).find("unix:/nowhere/socket") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(an_abstract_name_is_in_use_while_somebody_listens) {
  event_loop loop;
  const std::string at = "unix:@quintet-listening-test-" + std::to_string(::getpid());
  {
    const listener l(loop, at, ignore);
    BOOST_TEST(can_connect(address(at)));
    BOOST_CHECK_EXCEPTION(listener(loop, at, ignore), boost::system::system_error, in_use(at));
  }
  BOOST_TEST(!can_connect(address(at)));
}

BOOST_AUTO_TEST_CASE(buffers_of_a_listener_are_those_of_its_connections) {
  event_loop loop;
  std::vector<file_descriptor> accepted;
  const auto keep = [&](int fd) { accepted.emplace_back(fd); };
  const listener_settings settings{.socket = {.send_buffer = 20'000, .receive_buffer = 30'000}};
  listener tcp(loop, {"127.0.0.1:0", settings}, keep), un(loop, {"unix:@quintet-buffers-test", settings}, keep);
  for (listener* l : {&tcp, &un}) {
    l->start();
    const file_descriptor client = connected_to(l->at());
    accepted.clear();
    while (accepted.empty()) loop.poll();
    BOOST_TEST(get_option(accepted[0].get(), SOL_SOCKET, SO_SNDBUF) == 40'000);  // the kernel doubles the values
    BOOST_TEST(get_option(accepted[0].get(), SOL_SOCKET, SO_RCVBUF) == 60'000);
  }
}

BOOST_AUTO_TEST_CASE(a_listening_socket_is_adopted) {
  const address any("127.0.0.1:0");
  file_descriptor fd = socket_for(any);
  BOOST_REQUIRE(::bind(fd.get(), any.data(), any.size()) == 0);
  event_loop loop;
  BOOST_CHECK_EXCEPTION(listener(loop, {"", {.descriptor = fd.get()}}, ignore), boost::system::system_error,
                        [&](const auto& e) {
                          const std::string says = e.what();
                          return says.find("descriptor " + std::to_string(fd.get())) != says.npos &&
                                 says.find("not a listening") != says.npos;
                        });
  BOOST_REQUIRE(::listen(fd.get(), 5) == 0);
  int accepted = 0;
  listener l(loop, {"", {.descriptor = fd.get()}}, [&](int connection) {
    ++accepted;
    BOOST_TEST(get_option(connection, IPPROTO_TCP, TCP_NODELAY) == 1);
    ::close(connection);
  });
  BOOST_TEST((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  l.start();
  const file_descriptor client = connected_to(l.at());
  while (accepted == 0) loop.poll();
  for (int i = 0; i < 10; ++i) loop.poll();  // would hang if accept blocked
  BOOST_TEST(fd.release() >= 0);             // the listener owns it now
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_is_not_open_is_said) {
  event_loop loop;
  BOOST_CHECK_THROW(listener(loop, {"", {.descriptor = 12345}}, ignore), boost::system::system_error);
}
