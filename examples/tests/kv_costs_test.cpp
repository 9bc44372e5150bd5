// SPDX-License-Identifier: BSL-1.0
// kv_costs_test: what a request costs a warm kv server, in every model: no memory, one receive and one send, or less.
#include "kv/session.hpp"

#include <quintet/net/file_descriptor.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<long> allocations{0};  // in all threads

}  // namespace

// Not inlined: g++ 12 would complain of new and free where it sees through one of the two only.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace {

quintet::file_descriptor connect_to(std::uint16_t port) {
  quintet::file_descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_REQUIRE_EQUAL(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  return fd;
}

// Allocates nothing itself while the answers are as expected.
void ask(int fd, int times, quintet::bytes request, quintet::bytes reply) {
  std::array<char, 256> received{};
  for (int i = 0; i < times; ++i) {
    if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) BOOST_FAIL("the connection is broken");
    std::size_t size = 0;
    while (size < reply.size()) {
      const ssize_t n = ::recv(fd, received.data() + size, received.size() - size, 0);
      if (n <= 0) BOOST_FAIL("no answer");
      size += static_cast<std::size_t>(n);
    }
    if (quintet::bytes(received.data(), size) != reply) BOOST_FAIL("a wrong answer");
  }
}

BOOST_AUTO_TEST_CASE(answering_does_not_allocate) {
  struct exchange {
    quintet::bytes request, reply;
  };
  const std::array exchanges{exchange{"PING\r\n", "+PONG\r\n"}, exchange{"*1\r\n$4\r\nPING\r\n", "+PONG\r\n"},
                             exchange{"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n", "$5\r\nvalue\r\n"}};
  for (const quintet::model m : quintet::all_models) {
    BOOST_TEST_CONTEXT(quintet::to_string(m)) {
      kv::store store;
      store.set("key", "value");
      // All of them by the same way: what takes another one for the first time may need a buffer for it.
      quintet::server server({.listen = {"127.0.0.1:0"},
                              .model = m,
                              .workers = {2, 2},
                              .offload = {.policy = quintet::offload_policy::always}},
                             kv::session(store, {}));
      std::thread running([&] { server.run(); });
      {
        const auto fd = connect_to(server.port());
        for (const auto& [request, reply] : exchanges) ask(fd.get(), 200, request, reply);
        const long before = allocations;
        for (const auto& [request, reply] : exchanges) ask(fd.get(), 1000, request, reply);
        BOOST_CHECK_EQUAL(allocations - before, 0);
      }
      server.stop();
      running.join();
    }
  }
}

// Of requests that come `pipelined` at a time on each of 100 connections: receives and sends, for each of them.
double completions(quintet::model m, quintet::bytes request, int pipelined) {
  constexpr int rounds = 10;
  std::string requests, replies;
  for (int i = 0; i < pipelined; ++i) {
    requests += request;
    replies += "+PONG\r\n";
  }
  kv::store store;
  quintet::server server({.listen = {"127.0.0.1:0"}, .model = m, .workers = {2, 2}}, kv::session(store, {}));
  std::thread running([&] { server.run(); });
  std::vector<quintet::file_descriptor> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(connect_to(server.port()));
  for (const auto& fd : clients) ask(fd.get(), rounds, requests, replies);
  server.stop();
  running.join();  // all is counted then
  const auto counted = server.statistics();
  return static_cast<double>(counted.receives + counted.sends) / (100.0 * rounds * pipelined);
}

// In servers that read an array line by line each line completes on its own: two more for each request.
BOOST_AUTO_TEST_CASE(a_request_is_one_receive_and_one_send) {
  for (const quintet::model m : quintet::all_models) {
    BOOST_TEST_CONTEXT(quintet::to_string(m)) {
      BOOST_TEST(completions(m, "PING\r\n", 1) == 2.0);
      BOOST_TEST(completions(m, "*1\r\n$4\r\nPING\r\n", 1) == 2.0);
      BOOST_TEST(completions(m, "*1\r\n$4\r\nPING\r\n", 16) == 2.0 / 16);
    }
  }
}

}  // namespace
