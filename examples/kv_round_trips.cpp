// SPDX-License-Identifier: BSL-1.0
// kv_round_trips: the time of a GET from kv over TCP, a Unix socket and shared memory, in turn.
#include <quintet/net/file_descriptor.hpp>
#include <quintet/net/shared_memory_client.hpp>

#include "common/options.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace {

using namespace quintet;

const std::string set = "SET planet Mars\r\n", get = "GET planet\r\n", stored = "+OK\r\n", value = "$4\r\nMars\r\n";

/// A blocking socket.
class socket_route {
 public:
  explicit socket_route(const address& to) : socket_(::socket(to.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (!socket_ || ::connect(socket_.get(), to.data(), to.size()) != 0)
      throw_system_error(errno, "cannot connect to " + to.to_string());
    const int on = 1;
    (void)::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // fails for a Unix socket
  }
  bool send(bytes data) const {
    return ::send(socket_.get(), data.data(), data.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(data.size());
  }
  std::size_t receive(std::span<char> place) const {
    return static_cast<std::size_t>(std::max<ssize_t>(0, ::recv(socket_.get(), place.data(), place.size(), 0)));
  }

 private:
  file_descriptor socket_;
};

/// Sends a request and waits for its reply.
template <class Route>
void ask(Route& route, bytes request, bytes expected) {
  std::array<char, 64> got{};
  std::size_t size = 0;
  if (!route.send(request)) throw std::runtime_error("the server has closed the connection");
  while (size < expected.size()) {
    const std::size_t more = route.receive(std::span(got).subspan(size));
    if (more == 0) throw std::runtime_error("the server has closed the connection");
    size += more;
  }
  if (bytes(got.data(), size) != expected) throw std::runtime_error("a reply was wrong");
}

template <class Route>
void measure(const char* name, Route& route, std::size_t count) {
  ask(route, set, stored);
  std::vector<double> us;
  us.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    ask(route, get, value);
    us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(us);
  std::printf("%-14s %10.2f %10.2f\n", name, us[count / 2], us[count * 99 / 100]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string tcp = "127.0.0.1:6380", path;
  std::size_t count = 10'000, spin_us = 100;
  example::command_line("kv_round_trips", "The time of a GET from kv over TCP, a Unix socket and shared memory.")
      .text("--server", tcp, "address of kv [127.0.0.1:6380]", "ADDRESS:PORT")
      .text("--unix", path, "path that kv was given as --unix", "PATH")
      .number("--count", count, 1, 100'000'000, "requests over each route")
      .number("--spin-us", spin_us, 0, 100'000, "microseconds for which this client looks for a reply before it sleeps")
      .try_it("  kv --unix /tmp/kv.sock --spin-us 100 &\n  kv_round_trips --unix /tmp/kv.sock")
      .parse(argc, argv);
  try {
    if (path.empty()) throw config_error("--unix is missing; it must be the path that kv was given as --unix");
    std::printf("%-14s %10s %10s\n", "route", "p50, us", "p99, us");
    socket_route by_tcp{address(tcp)};
    measure("tcp", by_tcp, count);
    socket_route by_unix{address("unix:" + path)};
    measure("unix", by_unix, count);
    shared_memory_client by_memory("unix:" + path, {.spin = std::chrono::microseconds(spin_us)});
    measure("shared memory", by_memory, count);
  } catch (...) {
    return example::report_exception("kv_round_trips");
  }
}
