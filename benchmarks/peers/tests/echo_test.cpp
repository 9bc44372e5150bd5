// SPDX-License-Identifier: BSL-1.0
// echo_test.cpp: every peer that is built in echoes rightly: pieces, much at once, half-close; and it stops.
#include "peers/peer_server.hpp"

#include "load/blocking_io.hpp"
#include "load/connect.hpp"
#include "options.hpp"

#include <sys/socket.h>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <thread>
#include <vector>

using namespace quintet::bench;

namespace {

class running_peer {
 public:
  explicit running_peer(const peer_kind& kind)
      : server_(kind.make({.address = "127.0.0.1", .threads = 3})), thread_([this] { server_->run(); }) {}
  ~running_peer() { server_->stop(); }
  std::uint16_t port() const { return server_->port(); }

 private:
  std::unique_ptr<peer_server> server_;
  std::jthread thread_;
};

unique_fd connect_to(std::uint16_t port) { return connect_blocking(resolve({"127.0.0.1", port}), 20'000); }

std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  std::uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

std::string receive(const unique_fd& fd, std::size_t most) {
  std::string text(most, '\0');
  text.resize(receive_whole(fd, text));
  return text;
}

bool at_end(const unique_fd& fd) {
  char more = 0;
  return receive_some(fd, {&more, 1}) == 0;
}

template <class F>
void for_each_peer(F f) {
  for (const peer_kind& kind : all_peers()) {
    if (!kind.built_in())
      BOOST_TEST_MESSAGE(kind.absence());
    else
      BOOST_TEST_CONTEXT(kind.name) f(kind);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(peer_servers)

BOOST_AUTO_TEST_CASE(a_message_in_pieces_comes_back_in_order) {
  for_each_peer([](const peer_kind& kind) {
    const running_peer server(kind);
    const unique_fd fd = connect_to(server.port());
    const std::string message = pattern(64 * 1024);
    std::string back;
    for (std::size_t at = 0, piece = 1; at < message.size(); at += piece, piece = piece * 3 % 7919 + 1) {
      const auto part = std::string_view(message).substr(at, piece);
      send_whole(fd, part);
      back += receive(fd, part.size());
    }
    BOOST_TEST((back == message));
  });
}

BOOST_AUTO_TEST_CASE(what_was_sent_before_a_half_close_comes_back_and_then_the_end) {
  const std::string message = pattern(8u << 20);  // more than sockets keep, so that the server has to wait for us
  for_each_peer([&](const peer_kind& kind) {
    const running_peer server(kind);
    const unique_fd fd = connect_to(server.port());
    std::jthread sender([&] {
      send_whole(fd, message);
      ::shutdown(fd.get(), SHUT_WR);
    });
    BOOST_TEST((receive(fd, message.size()) == message));
    BOOST_TEST(at_end(fd));
  });
}

BOOST_AUTO_TEST_CASE(an_end_together_with_the_last_bytes_is_seen) {
  for_each_peer([](const peer_kind& kind) {
    const running_peer server(kind);
    for (int i = 0; i < 20; ++i) {
      const unique_fd fd = connect_to(server.port());
      send_whole(fd, "goodbye");
      ::shutdown(fd.get(), SHUT_WR);
      BOOST_TEST(receive(fd, 7) == "goodbye");
      BOOST_TEST(at_end(fd));
    }
  });
}

BOOST_AUTO_TEST_CASE(connections_do_not_mix_and_one_that_is_reset_harms_nobody) {
  for_each_peer([](const peer_kind& kind) {
    const running_peer server(kind);
    std::vector<unique_fd> all;
    for (int i = 0; i < 40; ++i) all.push_back(connect_to(server.port()));
    for (std::size_t i = 0; i < all.size(); ++i) send_whole(all[i], std::to_string(1000 + i));
    close_with_reset(all[7]);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]) BOOST_TEST(receive(all[i], 4) == std::to_string(1000 + i));
    }
  });
}

BOOST_AUTO_TEST_CASE(a_server_stops_with_connections_open_and_before_it_has_run) {
  for_each_peer([](const peer_kind& kind) {
    unique_fd fd;
    {
      const running_peer server(kind);
      fd = connect_to(server.port());
      send_whole(fd, "hello");
      BOOST_TEST(receive(fd, 5) == "hello");
    }
    BOOST_TEST(at_end(fd));
    const auto early = kind.make({.address = "127.0.0.1", .threads = 3});
    early->stop();
    early->run();
  });
}

BOOST_AUTO_TEST_CASE(names) {
  BOOST_TEST(require_peer("epoll-edge").built_in());
  BOOST_CHECK_EXCEPTION(require_peer("libhv"), usage_error, [](const usage_error& e) {
    return std::string(e.what()).find("it must be one of: epoll, epoll-edge, blocking, asio") != std::string::npos;
  });
  const peer_kind missing{"libuv", "libuv1-dev", nullptr};
  BOOST_TEST(missing.absence() == "libuv: not built in; install libuv1-dev, then build again");
}

BOOST_AUTO_TEST_SUITE_END()
