// SPDX-License-Identifier: BSL-1.0
// close_while_sending: after close(), or the end of the coroutine, input is discarded, even while output waits.
#include <quintet/net/file_descriptor.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

// The amount that the kernel takes while nobody reads depends on the machine. For any amount up to 4.5 MiB, one of
// these replies leaves output in the server, but too little to stop its reading.
const std::vector<std::size_t> reply_sizes{768 << 10, 1536 << 10, 2304 << 10, 3072 << 10, 3840 << 10, 4608 << 10};

// Opens a connection with a small receive buffer, so that the server's reply has to wait.
quintet::file_descriptor connect_to(std::uint16_t port) {
  quintet::file_descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int small = 4096;
  BOOST_REQUIRE_EQUAL(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_REQUIRE_EQUAL(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  return fd;
}

void send_all(int fd, std::string_view data) {
  BOOST_REQUIRE_EQUAL(::send(fd, data.data(), data.size(), MSG_NOSIGNAL), static_cast<ssize_t>(data.size()));
}

std::size_t count_to_the_end(int fd) {
  std::vector<char> buffer(64 * 1024);
  std::size_t total = 0;
  for (ssize_t n; (n = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) total += static_cast<std::size_t>(n);
  return total;
}

template <class Handler>
void check(const Handler& handler, const std::atomic<int>& batches, quintet::model m, std::size_t reply_size) {
  const int before = batches;
  quintet::server server({.listen = {"127.0.0.1:0"}, .model = m}, handler);
  std::thread running([&] { server.run(); });
  const auto fd = connect_to(server.port());
  send_all(fd.get(), "first");
  while (batches == before) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    send_all(fd.get(), "too late");
  }
  BOOST_CHECK_EQUAL(count_to_the_end(fd.get()), reply_size);
  server.stop();
  running.join();
  BOOST_CHECK_EQUAL(batches - before, 1);
}

// make(reply, batches) returns the handler.
template <class Make>
void check_all(const Make& make) {
  std::atomic<int> batches{0};
  for (const quintet::model m : quintet::all_models) {
    for (const std::size_t size : reply_sizes) {
      BOOST_TEST_CONTEXT(quintet::to_string(m) << ", reply of " << size) {
        const std::string reply(size, 'r');
        check(make(reply, batches), batches, m, size);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_handler_is_not_called_after_close) {
  check_all([](const std::string& reply, std::atomic<int>& batches) {
    return [&](quintet::connection& c, quintet::bytes) {
      ++batches;
      c.write(reply);
      c.close();
    };
  });
}

BOOST_AUTO_TEST_CASE(input_for_a_coroutine_that_has_ended_is_discarded) {
  check_all([](const std::string& reply, std::atomic<int>& batches) {
    return [&](quintet::stream& s) -> quintet::awaitable<> {
      co_await s.read();
      ++batches;
      s.write(reply);
    };
  });
}

}  // namespace
