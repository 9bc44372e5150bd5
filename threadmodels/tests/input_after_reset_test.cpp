// SPDX-License-Identifier: BSL-1.0
// input_after_reset_test: a peer that has closed receives no replies. All that it sent before is executed.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/names/address.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <cerrno>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quintet::test {
namespace {

namespace bdata = boost::unit_test::data;

constexpr int commands = 4000;

/// What the handlers of one connection have done.
struct record {
  gate first = {};  ///< where the first command waits, if `waits`
  bool waits = false;
  bool pauses = false;  ///< the first command stops reading
  std::atomic<int> executed{0}, notices{0}, failed_notices{0};
  std::atomic<bool> paused{false}, closed{false};
  std::atomic<int> reason{0};
  std::atomic<connection_registry*> registry{nullptr};
  connection_id id = {};  // set before `registry`
};

void execute(connection& c, record& r) {
  if (r.executed++ == 0) {
    r.id = c.id();
    r.registry = &c.registry();
    if (r.waits) r.first.wait();
    if (r.pauses) c.pause_reading();
    r.paused = r.pauses;
  }
  c.write("+OK\r\n");
  if (r.executed == commands) c.when_sent([&r](error_code why) { ++(why ? r.failed_notices : r.notices); });
}

class executing {
 public:
  explicit executing(record& r) : record_(&r) {}
  std::size_t operator()(connection& c, bytes in) {
    std::size_t used = 0;
    for (std::size_t end; (end = in.find('\n', used)) != bytes::npos; used = end + 1) execute(c, *record_);
    return used;
  }
  void on_close(connection&, error_code why) {
    record_->reason = why.value();
    record_->closed = true;
  }

 private:
  record* record_;
};

awaitable<> execute_all(stream& s, record& r) {
  for (;;) {
    const auto command = co_await s.read_until("\n");
    if (!command) break;
    execute(s, r);
  }
  r.reason = s.failure().value();
  r.closed = true;
}
struct executing_coroutine {
  record* r;
  awaitable<> operator()(stream& s) const { return execute_all(s, *r); }
};

/// Answers the first command by a reply without end.
struct endless {
  record* r;
  void operator()(connection& c, bytes) const {
    r->first.wait();
    on_writable(c);
  }
  void on_writable(connection& c) const {
    while (c.writable()) c.write(std::string(10'000, 'x'));
  }
  void on_close(connection&, error_code) const { r->closed = true; }
};
struct endless_coroutine {
  record* r;
  awaitable<> operator()(stream& s) const {
    const auto command = co_await s.read_until("\n");
    r->first.wait();
    while (command && co_await s.until_writable()) s.write(std::string(10'000, 'x'));
    r->closed = true;
  }
};

struct case_of {
  combination under;
  bool over_unix;
};
std::ostream& operator<<(std::ostream& out, const case_of& c) {
  return out << c.under << (c.over_unix ? "/unix" : "/tcp");
}
std::vector<case_of> all_cases() {
  std::vector<case_of> all;
  for (const combination c : all_combinations)
    for (const bool over_unix : {false, true}) all.push_back({c, over_unix});
  return all;
}

config options_for(const case_of& c) {
  static int number = 0;
  const std::string name = "unix:@quintet-reset-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
  return {.listen = {c.over_unix ? name : "127.0.0.1:0"},
          .model = c.under.kind,
          .threads = {.loops = 1, .workers = {2, 2}}};
}

int connect_to(const address& at) {
  const int fd = ::socket(at.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::connect(fd, at.data(), at.size()) != 0) throw std::runtime_error("cannot connect");
  return fd;
}

template <class Handler, class Body>
void with_handler(const case_of& c, const Handler& h, Body body) {
  running<server> srv(options_for(c), h);
  body(srv->addresses().front());
}
template <class Body>
void with_server(const case_of& c, record& r, Body body) {
  c.under.is_coroutine() ? with_handler(c, executing_coroutine{&r}, body) : with_handler(c, executing(r), body);
}

std::string requests(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "SET k v\n";
  return text;
}

/// Sends commands, and closes with unread replies once the server's kernel has them.
void send_and_close(int fd, int count) {
  client c = client::over(fd);
  BOOST_TEST(c.send(requests(count)));
  const auto all_arrived = [fd] {
    int waits = 0;
    return ::ioctl(fd, SIOCOUTQ, &waits) == 0 && waits == 0;
  };
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  BOOST_REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0);
  if (own.ss_family != AF_UNIX) BOOST_TEST(eventually(all_arrived));
  c.close();
}

}  // namespace

BOOST_DATA_TEST_CASE(each_command_is_executed, bdata::make(all_cases()), c) {
  record r;
  with_server(c, r, [&](const address& at) {
    send_and_close(connect_to(at), commands);
    BOOST_TEST(eventually([&] { return r.closed.load(); }));
  });
  BOOST_TEST(r.executed == commands);
}

// The handler waits until the peer has closed, so that replies fail.
BOOST_DATA_TEST_CASE(each_command_behind_a_slow_one_is_executed, bdata::make(all_cases()), c) {
  record r;
  r.waits = true;
  with_server(c, r, [&](const address& at) {
    send_and_close(connect_to(at), commands);
    BOOST_TEST(r.first.await_waiting(1));
    r.first.open();
    BOOST_TEST(eventually([&] { return r.closed.load(); }));
  });
  BOOST_TEST(r.executed == commands);
  BOOST_TEST(r.notices + r.failed_notices == 1);
  if (!c.over_unix) return;  // the kernel may take a reply before it hears of the end
  BOOST_TEST(r.failed_notices == 1);
  if (!c.under.is_coroutine()) BOOST_TEST(r.reason == ECONNRESET);
}

// Over TCP the peer's kernel takes the replies, and drops them.
BOOST_DATA_TEST_CASE(each_command_of_a_peer_that_only_sends_is_executed, bdata::make(all_cases()), c) {
  if (!c.over_unix) return;
  record r;
  r.waits = true;
  with_server(c, r, [&](const address& at) {
    const int fd = connect_to(at);
    client only_sends = client::over(fd);
    BOOST_REQUIRE(::shutdown(fd, SHUT_RD) == 0);
    BOOST_TEST(only_sends.send(requests(commands)));
    BOOST_TEST(r.first.await_waiting(1));
    r.first.open();
    BOOST_TEST(eventually([&] { return r.closed.load(); }));
  });
  BOOST_TEST(r.executed == commands);
  BOOST_TEST(r.failed_notices == 1);
}

BOOST_DATA_TEST_CASE(a_reply_without_end_to_a_peer_that_only_sends_ends, bdata::make(all_cases()), c) {
  if (!c.over_unix) return;
  record r;
  const auto body = [&](const address& at) {
    const int fd = connect_to(at);
    client only_sends = client::over(fd);
    BOOST_REQUIRE(::shutdown(fd, SHUT_RD) == 0);
    BOOST_TEST(only_sends.send(requests(1)));
    BOOST_TEST(r.first.await_waiting(1));
    r.first.open();
    BOOST_TEST(eventually([&] { return r.closed.load(); }));
  };
  c.under.is_coroutine() ? with_handler(c, endless_coroutine{&r}, body) : with_handler(c, endless{&r}, body);
}

BOOST_DATA_TEST_CASE(paused_input_outlives_the_reset, bdata::make(all_cases()), c) {
  record r;
  r.pauses = true;
  with_server(c, r, [&](const address& at) {
    const int fd = connect_to(at);
    BOOST_TEST(::send(fd, "SET k v\n", 8, MSG_NOSIGNAL) == 8);
    BOOST_TEST(eventually([&] { return r.paused.load(); }));
    send_and_close(fd, commands - 1);
    BOOST_TEST(!r.registry.load()->post(r.id, [](connection& found) { found.resume_reading(); }));
    BOOST_TEST(eventually([&] { return r.closed.load(); }));
  });
  BOOST_TEST(r.executed == commands);
}

}  // namespace quintet::test
