// SPDX-License-Identifier: BSL-1.0
// engine_accept_test: the engine interface for listeners, events and waiting, with each engine of this kernel.
#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/file_descriptor.hpp>
#include <quintet/net/options/loop_options.hpp>

#include "each_engine.hpp"
#include "sockets.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <iterator>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>

namespace quintet {
namespace {

using namespace std::chrono_literals;
using testing::connected_to;
using testing::until;

struct listening final : accept_channel {
  void on_accepted(int handle) noexcept override { accepted.emplace_back(handle); }
  void on_accept_error(error_code reason) noexcept override { failed = reason; }
  std::vector<file_descriptor> accepted;
  error_code failed;
};

/// An engine that watches a listener.
struct fixture {
  explicit fixture(testing::tested_engine kind, const listen_options& how = "127.0.0.1:0")
      : io(make_engine(kind)), handle(io->sockets().listen(how)) {
    BOOST_REQUIRE(!io->add(l, handle));
  }
  ~fixture() {
    io->remove(l);
    io->close(handle);
    while (io->poll(0ms)) {
    }
  }
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;

  std::unique_ptr<engine> io;
  int handle;
  address at = io->sockets().local_address(handle);
  listening l;
};

struct event final : event_channel {
  void on_event() override { ++count; }
  int count = 0;
};

QUINTET_ENGINE_TEST(connections_are_accepted_in_turn_and_not_while_they_are_held) {
  fixture f(kind);
  std::vector<file_descriptor> clients;
  const auto accepted = [&](std::size_t count) {
    (void)testing::until(*f.io, [&] { return f.l.accepted.size() >= count; });
    return f.l.accepted.size() == count;
  };
  for (int i = 0; i < 100; ++i) clients.push_back(connected_to(f.at));
  BOOST_TEST(accepted(100));
  f.io->set_reading(f.l, false);
  f.io->poll(0ms);
  clients.push_back(connected_to(f.at));
  for (int i = 0; i < 10; ++i) f.io->poll(1ms);
  BOOST_TEST(f.l.accepted.size() == 100U);
  f.io->set_reading(f.l, true);
  BOOST_TEST(accepted(101));
  for (const file_descriptor& fd : f.l.accepted) BOOST_TEST((::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) == 0);
}

/// Stops at a limit, as the listener of a server with max_connections does.
struct limited_listening final : accept_channel {
  explicit limited_listening(engine& e) : accept_channel(properties{.limited = true}), io(e) {}
  void on_accepted(int handle) noexcept override {
    accepted.emplace_back(handle);
    if (accepted.size() % most == 0) BOOST_TEST(!io.set_reading(*this, false));
  }
  void on_accept_error(error_code) noexcept override { ++errors; }
  static constexpr std::size_t most = 4;
  engine& io;
  std::vector<file_descriptor> accepted;
  int errors = 0;
};

std::ptrdiff_t count_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

// Connections beyond the limit wait in the backlog, where they hold no descriptor of this process.
QUINTET_ENGINE_TEST(a_limited_listener_accepts_no_connection_ahead) {
  const auto io = make_engine(kind);
  const int handle = io->sockets().listen("127.0.0.1:0");
  limited_listening l(*io);
  BOOST_REQUIRE(!io->add(l, handle));
  std::vector<file_descriptor> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(connected_to(io->sockets().local_address(handle)));
  for (int i = 0; i < 3; ++i) io->poll(0ms);
  const auto before = count_descriptors() - std::ssize(l.accepted);
  for (std::size_t round = 1; round <= 25; ++round) {
    BOOST_TEST(until(*io, [&] { return l.accepted.size() == round * l.most; }));
    for (int i = 0; i < 5; ++i) io->poll(0ms);
    BOOST_TEST(l.accepted.size() == round * l.most);
    BOOST_TEST(count_descriptors() == before + std::ssize(l.accepted));
    BOOST_TEST(!io->set_reading(l, true));
  }
  BOOST_TEST(l.errors == 0);
  io->remove(l);
  io->close(handle);
  while (io->poll(0ms)) {
  }
}

QUINTET_ENGINE_TEST(accepting_without_descriptors_says_so_and_goes_on_later) {
  fixture f(kind);
  for (int i = 0; i < 3; ++i) f.io->poll(1ms);
  const file_descriptor client = testing::socket_for(f.at);
  {
    const testing::no_descriptors none;
    BOOST_REQUIRE(testing::connect(client, f.at));
    BOOST_TEST(until(*f.io, [&] { return f.l.failed.failed(); }));
    BOOST_TEST(f.l.failed == error_code(EMFILE, boost::system::system_category()));
    f.io->set_reading(f.l, false);
  }
  BOOST_TEST(f.l.accepted.empty());
  f.io->set_reading(f.l, true);
  BOOST_TEST(until(*f.io, [&] { return f.l.accepted.size() == 1U; }));
}

/// The keep-alive options of a socket, read from the kernel.
struct liveness {
  explicit liveness(int fd)
      : is_on(testing::get_option(fd, SOL_SOCKET, SO_KEEPALIVE)),
        idle(testing::get_option(fd, IPPROTO_TCP, TCP_KEEPIDLE)),
        interval(testing::get_option(fd, IPPROTO_TCP, TCP_KEEPINTVL)),
        probes(testing::get_option(fd, IPPROTO_TCP, TCP_KEEPCNT)),
        user_timeout(testing::get_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT)) {}
  void must_be_set() const {
    BOOST_TEST(is_on == 1);
    BOOST_TEST(idle == 40);
    BOOST_TEST(interval == 10);
    BOOST_TEST(probes == 4);
    BOOST_TEST(user_timeout == 30'500);
  }
  void must_be_off() const {
    BOOST_TEST(is_on == 0);
    BOOST_TEST(user_timeout == 0);
  }
  int is_on, idle, interval, probes, user_timeout;
};

QUINTET_ENGINE_TEST(an_accepted_connection_inherits_keep_alive_and_user_timeout) {
  fixture on(kind, {"127.0.0.1:0", {.socket = {.keep_alive = 40s, .user_timeout = 30'500ms}}}), off(kind);
  for (fixture* const f : {&on, &off}) {
    const file_descriptor client = connected_to(f->at);
    BOOST_REQUIRE(until(*f->io, [&] { return f->l.accepted.size() == 1U; }));
    const liveness accepted(f->l.accepted.front().get());
    f == &on ? accepted.must_be_set() : accepted.must_be_off();
  }
}

QUINTET_ENGINE_TEST(a_connection_that_is_made_has_keep_alive_and_user_timeout) {
  fixture f(kind);
  error_code failed;
  const file_descriptor made(f.io->sockets().connect(f.at, failed, {.keep_alive = 40s, .user_timeout = 30'500ms}));
  BOOST_REQUIRE(made);
  liveness(made.get()).must_be_set();
  const file_descriptor plain(f.io->sockets().connect(f.at, failed));
  BOOST_REQUIRE(plain);
  liveness(plain.get()).must_be_off();
}

QUINTET_ENGINE_TEST(a_connection_that_is_made_has_its_buffers) {
  fixture f(kind);
  error_code failed;
  const socket_options how{.send_buffer = 20'000, .receive_buffer = 30'000};
  const file_descriptor made(f.io->sockets().connect(f.at, failed, how));
  BOOST_REQUIRE(made);
  BOOST_TEST(testing::get_option(made.get(), SOL_SOCKET, SO_SNDBUF) == 40'000);  // the kernel doubles the values
  BOOST_TEST(testing::get_option(made.get(), SOL_SOCKET, SO_RCVBUF) == 60'000);
}

QUINTET_ENGINE_TEST(a_socket_of_the_parent_gets_keep_alive_and_a_unix_socket_ignores_it) {
  const auto io = make_engine(kind);
  const listener_settings how{.socket = {.keep_alive = 40s, .user_timeout = 30'500ms}};
  fixture f(kind);
  listener_settings again = how;
  again.descriptor = ::fcntl(f.handle, F_DUPFD_CLOEXEC, 0);
  const file_descriptor adopted(io->sockets().listen({"", again}));
  liveness(adopted.get()).must_be_set();
  const int unix_one = io->sockets().listen({"unix:@quintet-keep-alive-test", how});
  error_code failed;
  const file_descriptor made(io->sockets().connect(io->sockets().local_address(unix_one), failed, {.keep_alive = 40s}));
  BOOST_TEST(!!made);
  again.descriptor = ::fcntl(unix_one, F_DUPFD_CLOEXEC, 0);
  const file_descriptor adopted_unix(io->sockets().listen({"", again}));
  BOOST_TEST(!!adopted_unix);
  io->close(unix_one);
}

// The owner of a watched descriptor reads it itself, perhaps with blocking calls: the engine must not change its flags.
QUINTET_ENGINE_TEST(events_are_told_until_they_are_read_and_the_descriptor_is_left_as_it_was) {
  const auto io = make_engine(kind);
  const file_descriptor fd(::eventfd(0, EFD_CLOEXEC));
  event e;
  BOOST_REQUIRE(!io->add(e, fd.get()));
  for (int i = 0; i < 3; ++i) io->poll(1ms);
  BOOST_TEST(e.count == 0);
  std::uint64_t value = 1;
  for (int round = 1; round <= 3; ++round) {
    BOOST_REQUIRE(::write(fd.get(), &value, sizeof value) == sizeof value);
    const int before = e.count;
    BOOST_TEST(until(*io, [&] { return e.count >= before + 2; }));
    BOOST_TEST((::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) == 0);
    BOOST_REQUIRE(::read(fd.get(), &value, sizeof value) == sizeof value);
    value = 1;
    for (int i = 0; i < 3; ++i) io->poll(1ms);
    const int after = e.count;
    for (int i = 0; i < 3; ++i) io->poll(1ms);
    BOOST_TEST(e.count == after);
  }
  io->remove(e);
  BOOST_TEST((::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) == 0);
}

QUINTET_ENGINE_TEST(a_wake_before_the_wait_ends_it) {
  const auto io = make_engine(kind);
  for (int i = 0; i < 100; ++i) {
    io->wake();
    io->wake();
    BOOST_TEST(!io->poll(1h));
    while (io->poll(0ms)) {
    }
  }
}

QUINTET_ENGINE_TEST(a_wait_ends_when_its_time_is_over_and_not_before) {
  const auto io = make_engine(kind);
  io->poll(0ms);
  for (const duration d : {duration(1ns), duration(1ms), duration(20ms)}) {
    const auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begun < d) BOOST_TEST(!io->poll(d));
  }
}

}  // namespace
}  // namespace quintet
