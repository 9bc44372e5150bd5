// SPDX-License-Identifier: BSL-1.0
// costs: counts the allocations of a warm server per request. Replaces operator new, so only one source of a program
// may include it.
#pragma once

#include <quintet/base/memory/byte_buffer.hpp>
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
#include <span>
#include <thread>

namespace costs {

inline std::atomic<long> allocations{0};  // in all threads

}  // namespace costs

// Not inlined: g++ 12 would warn of a mismatch of new and free if it inlined only one of the operators.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++costs::allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace costs {

struct exchange {
  quintet::bytes request, reply;
};

inline quintet::file_descriptor connect_to(std::uint16_t port) {
  quintet::file_descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_REQUIRE_EQUAL(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  return fd;
}

// Sends requests and checks the replies. Allocates nothing while the replies are as expected.
inline void ask(int fd, int times, quintet::bytes request, quintet::bytes reply) {
  std::array<char, 1024> received{};
  BOOST_REQUIRE_LE(reply.size(), received.size());
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

// Checks in every model that a server with this handler allocates nothing for requests like earlier ones.
template <class Handler>
void check_no_allocation(const Handler& handler, std::span<const exchange> exchanges) {
  for (const quintet::model m : quintet::all_models) {
    BOOST_TEST_CONTEXT(quintet::to_string(m)) {
      // The fixed policy sends all requests along one path: the first use of another path may allocate a buffer.
      quintet::server server({.listen = {"127.0.0.1:0"},
                              .model = m,
                              .threads = {.workers = {2, 2}, .offload = {.policy = quintet::offload_policy::always}}},
                             handler);
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

}  // namespace costs
