// SPDX-License-Identifier: BSL-1.0
// peer_info_test: what a handler learns of its socket, in all models and kinds of streams, and what is left of it when
// the connection has closed.
// ctest: EACH_ENGINE
#include "../../net/tests/support/sockets.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "journal.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/connection.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

/// Of the other end, by the socket: "tcp" or the errors.
std::string kinds_of(const connection& c) {
  const auto tcp = tcp_info_of(c);
  const auto credentials = credentials_of(c);
  std::string text = tcp ? "tcp " + std::to_string(int{tcp->tcpi_state}) : tcp.error().message();
  text += ", ";
  if (!credentials) return text + credentials.error().message();
  const bool is_this = credentials->process == ::getpid() && is_own_user(*credentials);
  return text + (is_this ? "this process" : "another process");
}

std::string facts_of(const connection& c) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  const bool open = ::getsockname(native_handle(c), reinterpret_cast<sockaddr*>(&at), &size) == 0;
  const bool same = open && address(reinterpret_cast<const sockaddr*>(&at), size).to_string() == local_address(c);
  return c.peer_address() + " | " + local_address(c) + " | " + kinds_of(c) + (same ? "\n" : " | another handle\n");
}

/// Returns where a client's socket is.
std::string end_of(const file_descriptor& fd) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size);
  return address(reinterpret_cast<const sockaddr*>(&at), size).to_string();
}

void tell(connection& c, bytes) { c.write(facts_of(c)); }
awaitable<> tell_coroutine(stream& s) {
  while (const auto in = co_await s.read())
    if (!in->empty()) s.write(facts_of(s));
}

template <class Handler>
void check_facts(model kind, Handler handler) {
  const std::string memory = fresh_unix_address();
  running<server> srv(
      config{.listen = {"127.0.0.1:0", "[::1]:0", {memory, {.upgrade = connection_upgrade::shared_memory}}},
             .model = kind,
             .threads = {.loops = 2}},
      handler);
  const std::string local = "Operation not supported, this process";
  const std::string tcp = "tcp 1, Operation not supported";  // 1: established
  for (const std::size_t n : {0U, 1U}) {
    const file_descriptor fd = testing::connected_to(srv->addresses()[n]);
    const std::string end = end_of(fd);
    client c = client::over(::dup(fd.get()));
    c.send("?");
    BOOST_TEST(c.receive_line() == end + " | " + srv->addresses()[n].to_string() + " | " + tcp);
  }
  client over_socket = client::over(connected_to(memory).release());
  over_socket.send("?");
  BOOST_TEST(over_socket.receive_line() == "unix: | " + memory + " | " + local);
  client over_memory = client_over_shared_memory(memory);
  over_memory.send("?");
  BOOST_TEST(over_memory.receive_line() == "unix: | " + memory + ".shm | " + local);
}

// ---- After the end --------------------------------------------------------------------------------------------------

struct ends_seen {
  std::mutex mutex;
  std::vector<std::string> ends;
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return ends.size();
  }
};

/// Ends as the input says.
struct ends_as_told {
  ends_seen* seen;
  void operator()(connection& c, bytes in) const {
    if (in.starts_with("close")) c.close(errc::malformed_message);
    if (in.starts_with("throw")) throw std::runtime_error("told to");
    if (in.starts_with("flood")) c.write(std::string(c.limits().max_output + 1, 'x'));
    if (in.starts_with("abort")) (void)c.registry().abort(c.id());
  }
  void on_close(connection& c, error_code) const {
    const std::string left = native_handle(c) == -1 && tcp_info_of(c).error() && credentials_of(c).error() ? "" : "!";
    const std::lock_guard lock(seen->mutex);
    seen->ends.push_back(c.peer_address() + " at " + local_address(c) + left);
  }
};

constexpr std::array ways{"orderly", "reset", "close", "close and reset", "throw", "flood", "abort"};

// The journal fails the test if a line about a connection has no address.
void check_ends(model kind) {
  ends_seen seen;
  journal log;
  running<server> srv(config{.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 2}, .log = log.hook()},
                      ends_as_told{&seen});
  for (std::size_t n = 0; n < 3 * ways.size(); ++n) {
    const std::string_view way = ways.at(n % ways.size());
    const file_descriptor fd = testing::connected_to(srv->addresses()[0]);
    const std::string end = end_of(fd);
    client c = client::over(::dup(fd.get()));
    c.send(way);
    if (way == "orderly") c.finish_sending();
    if (way.ends_with("reset")) {
      const linger at_once{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
      ::connect(fd.get(), &nobody, sizeof nobody);
    }
    BOOST_TEST_REQUIRE(eventually([&] { return seen.count() > n; }));
    BOOST_TEST(seen.ends.back() == end + " at " + srv->addresses()[0].to_string());
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(a_handler_learns_what_the_system_knows, data::make(all_combinations), c) {
  if (c.is_coroutine())
    check_facts(c.kind, tell_coroutine);
  else
    check_facts(c.kind, tell);
}

BOOST_DATA_TEST_CASE(both_ends_are_known_after_every_end, data::make(all_models), kind) { check_ends(kind); }

}  // namespace quintet::test
