// SPDX-License-Identifier: BSL-1.0
// shm_engine_test: what an engine with shared memory tells a stream: bytes, room, and the end, in every order of
// events.
#include "segment_access.hpp"
#include "shm_peer.hpp"

#include <quintet/net/engine/embedding.hpp>
#include <quintet/net/engine/epoll_engine.hpp>
#include <quintet/net/engine/shm/offer.hpp>
#include <quintet/net/engine/shm/shm_engine.hpp>
#include <quintet/net/engine/socket_services.hpp>

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <poll.h>
#include <sys/socket.h>

using namespace quintet;

namespace {

constexpr std::size_t ring_size = 4096;

/// Notes its events.
class noting_stream final : public stream_channel {
 public:
  std::string received;
  std::optional<error_code> end;
  int sendable = 0;

 private:
  void on_received(bytes arrived) override { received += arrived; }
  void on_receive_end(error_code reason) override {
    BOOST_TEST(!end.has_value());
    end = reason;
  }
  void on_sendable() override { ++sendable; }
};

/// A stream that an engine serves, and its peer in the same thread.
struct pair {
  pair() {
    testing::socket_pair sockets;
    here = sockets.here.release();
    there = std::move(sockets.there);
    peer = test::offered_to(here, there.get(), ring_size);
    BOOST_REQUIRE(!io.add(stream, std::move(here)));
    turns();
  }
  ~pair() { io.close(io.remove(stream)); }
  // While a stream is awake, a poll that must not wait looks at the sockets every eighth time.
  void turns(int count = 16) {
    for (int i = 0; i < count; ++i) (void)io.poll(duration::zero());
  }
  void peer_sends(bytes data) {
    BOOST_REQUIRE(peer.out.copy_in(0, data) == data.size());
    if (peer.out.commit(data.size())) shm::wake_peer(there.get());
  }
  std::string peer_receives() {
    std::string all(ring_size, '\0');
    all.resize(peer.in.copy_out(all));
    if (peer.in.release(all.size())) shm::wake_peer(there.get());
    return all;
  }
  void peer_dies() { there.reset(); }
  std::size_t sends(const std::string& data) { return io.send(stream, bytes(data)).bytes; }
  int send_error() { return io.send(stream, bytes("x")).error; }

  shm::shm_engine io{std::make_unique<epoll_engine>()};
  noting_stream stream;
  stream_handle here;
  file_descriptor there;
  shm::endpoint peer;
};

std::string full_ring(char of = 'f') { return std::string(ring_size, of); }

}  // namespace

BOOST_AUTO_TEST_CASE(a_loop_that_sleeps_is_woken_and_one_that_is_awake_is_not) {
  pair p;
  std::array<char, 8> wakes{};
  p.peer_sends("awake");
  BOOST_TEST(::recv(p.here.get(), wakes.data(), wakes.size(), MSG_DONTWAIT | MSG_PEEK) == -1);
  p.turns();
  BOOST_TEST(p.stream.received == "awake");
  BOOST_TEST(p.io.embedding()->descriptor() >= 0);  // as before a wait of a foreign loop
  p.peer_sends(", asleep");
  p.peer_sends(", woken");
  BOOST_TEST(::recv(p.here.get(), wakes.data(), wakes.size(), MSG_DONTWAIT | MSG_PEEK) == 1);
  BOOST_TEST(p.io.poll(engine::forever));
  p.turns();
  BOOST_TEST(p.stream.received == "awake, asleep, woken");
  p.turns(100);  // idle
  p.peer_sends("!");
  BOOST_TEST(p.io.poll(engine::forever));
  BOOST_TEST(p.stream.received == "awake, asleep, woken!");
}

BOOST_AUTO_TEST_CASE(a_full_ring_blocks_a_send_until_the_peer_has_read) {
  pair p;
  BOOST_TEST(p.sends(full_ring() + "more") == ring_size);
  BOOST_TEST(p.sends("x") == 0U);
  p.turns();
  BOOST_TEST(p.stream.sendable == 0);
  BOOST_TEST(p.peer_receives() == full_ring());
  p.turns();
  BOOST_TEST(p.stream.sendable == 1);
  BOOST_TEST(p.sends("more") == 4U);
  BOOST_TEST(p.peer_receives() == "more");
}

BOOST_AUTO_TEST_CASE(unread_bytes_are_those_in_the_ring) {
  pair p;
  p.io.set_reading(p.stream, false);
  p.peer_sends("12345");
  p.turns();
  arrival first = p.io.arrived(p.stream);
  BOOST_TEST(p.io.has_more(p.stream, first));
  p.peer_sends("6789");
  BOOST_TEST(p.stream.received.empty());
  p.io.set_reading(p.stream, true);
  p.turns();
  BOOST_TEST(p.stream.received == "123456789");
  first.delivered = 5;
  BOOST_TEST(!p.io.has_more(p.stream, first));
  BOOST_TEST(!p.io.has_unread(p.stream));
}

BOOST_AUTO_TEST_CASE(one_callback_is_at_most_as_long_as_the_loop_asks) {
  pair p;
  p.io.limit_receive(1000);
  p.peer_sends(full_ring());
  (void)p.io.poll(duration::zero());
  BOOST_TEST(p.stream.received.size() == 1000U);
  p.turns();
  BOOST_TEST(p.stream.received == full_ring());
}

BOOST_AUTO_TEST_CASE(an_orderly_end_comes_after_the_last_byte_and_this_side_can_still_send) {
  pair p;
  p.peer_sends("last");
  if (p.peer.out.finish(shm::stream_end::finished)) shm::wake_peer(p.there.get());
  p.turns();
  BOOST_TEST(p.stream.received == "last");
  BOOST_TEST(p.stream.end.has_value());
  BOOST_TEST(!*p.stream.end);
  BOOST_TEST(p.sends("reply") == 5U);
  p.io.shutdown_send(p.stream);
  BOOST_TEST(p.peer_receives() == "reply");
  BOOST_CHECK(p.peer.in.producer_end() == shm::stream_end::finished);
}

BOOST_AUTO_TEST_CASE(the_input_of_a_dead_peer_comes_before_its_end) {
  pair p;
  p.io.limit_receive(1000);
  p.peer_sends(full_ring());
  p.peer_dies();
  for (int i = 0; i < 3; ++i) {
    p.turns(1);
    BOOST_TEST(p.sends("a reply to nobody") == 17U);
  }
  p.turns();
  BOOST_TEST(p.stream.received == full_ring());
  BOOST_TEST(p.stream.end.has_value());
  BOOST_TEST(*p.stream.end == boost::system::errc::connection_reset);
  BOOST_TEST(p.send_error() == EPIPE);
}

BOOST_AUTO_TEST_CASE(a_paused_stream_learns_of_a_dead_peer_once_its_input_was_read) {
  pair p;
  p.io.set_reading(p.stream, false);
  p.peer_sends("waits");
  p.peer_dies();
  p.turns();
  BOOST_TEST(!p.stream.end.has_value());
  BOOST_TEST(p.sends("a reply to nobody") == 17U);
  p.io.set_reading(p.stream, true);
  p.turns();
  BOOST_TEST(p.stream.received == "waits");
  BOOST_TEST(*p.stream.end == boost::system::errc::connection_reset);

  pair q;
  q.io.set_reading(q.stream, false);
  q.peer_dies();
  q.turns();
  BOOST_TEST(q.stream.end.has_value());
}

BOOST_AUTO_TEST_CASE(a_blocked_send_ends_with_its_peer) {
  pair p;
  BOOST_TEST(p.sends(full_ring() + "more") == ring_size);
  p.peer_dies();
  p.turns();
  BOOST_TEST(p.stream.sendable == 1);
  BOOST_TEST(p.stream.end.has_value());
}

// ... also if the peer has written it since the engine looked, as before the wait of a foreign loop.
BOOST_AUTO_TEST_CASE(a_blocked_send_does_not_sleep_over_an_impossible_position) {
  pair p;
  BOOST_TEST(p.sends(full_ring() + "more") == ring_size);
  p.turns();
  shm::segment_access(p.peer.memory).control(true).consumed.store(std::uint64_t{1} << 40U);
  pollfd about{.fd = p.io.embedding()->descriptor(), .events = POLLIN, .revents = 0};
  BOOST_TEST(::poll(&about, 1, 0) == 1);
  p.turns();
  BOOST_TEST(p.stream.sendable == 1);
  BOOST_TEST(p.send_error() == EPROTO);
}

BOOST_AUTO_TEST_CASE(closing_tells_the_peer_how) {
  for (const bool reset : {false, true}) {
    auto p = std::make_unique<pair>();
    shm::endpoint peer = std::move(p->peer);
    const file_descriptor there = std::move(p->there);
    (void)p->sends("last");
    if (reset) p->io.sockets().reset_when_closed(p->here.get());
    p.reset();
    BOOST_CHECK(peer.in.producer_end() == (reset ? shm::stream_end::reset : shm::stream_end::finished));
    BOOST_TEST(peer.in.peek() == "last");  // it outlives its sender
    char any = 0;
    BOOST_TEST(::recv(there.get(), &any, 1, MSG_DONTWAIT) == 0);
  }
}

BOOST_AUTO_TEST_CASE(an_offer_with_several_descriptors_is_refused_and_leaves_none) {
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  std::array<int, 2> sockets{};
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0);
  const file_descriptor here(sockets[0]), there(sockets[1]);
  shm::segment_offer what{shm::segment_offer::expected_magic, shm::segment_offer::current_version, ring_size};
  iovec piece{.iov_base = &what, .iov_len = sizeof what};
  const std::array<int, 2> sent{here.get(), there.get()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof sent)> room{};
  msghdr m{};
  m.msg_iov = &piece;
  m.msg_iovlen = 1;
  m.msg_control = room.data();
  m.msg_controllen = room.size();
  cmsghdr* const h = CMSG_FIRSTHDR(&m);
  h->cmsg_level = SOL_SOCKET;
  h->cmsg_type = SCM_RIGHTS;
  h->cmsg_len = CMSG_LEN(sizeof sent);
  std::memcpy(CMSG_DATA(h), sent.data(), sizeof sent);
  BOOST_REQUIRE(::sendmsg(there.get(), &m, 0) == sizeof what);
  const auto before = open_descriptors();
  shm::segment memory;
  BOOST_TEST(shm::receive_offer(here.get(), memory) == boost::system::errc::protocol_error);
  while (open_descriptors() > before) std::this_thread::yield();  // another thread closes them, and older ones
}

// A thread of thread_per_connection serves the next connection after a failure.
BOOST_AUTO_TEST_CASE(a_stream_that_cannot_be_watched_leaves_the_inner_engine_in_use) {
  shm::shm_engine io{make_blocking_engine()};
  file_descriptor file;
  shm::segment memory;
  BOOST_REQUIRE(!shm::segment::create(ring_size, std::make_shared<shm::closed_segments>(), memory, file));
  stream_handle carrying(file.release(), std::make_unique<shm::carried_endpoint>(std::move(memory)));
  noting_stream refused, stream;
  BOOST_TEST(io.add(refused, static_cast<stream_handle&&>(carrying)) ==
             system_error_code(EPERM));  // epoll cannot watch a file
  BOOST_TEST(carrying.carried() != nullptr);
  io.close(std::move(carrying));
  std::array<int, 2> sockets{};
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0);
  const file_descriptor there(sockets[1]);
  BOOST_REQUIRE(!io.add(stream, sockets[0]));
  BOOST_TEST(::send(there.get(), "plain", 5, 0) == 5);
  for (int i = 0; i < 4; ++i) (void)io.poll(duration::zero());
  BOOST_TEST(stream.received == "plain");
  io.remove(stream);
  io.close(sockets[0]);
}

// No engine drops what a stream carries: one that does not know it refuses the stream.
BOOST_AUTO_TEST_CASE(an_engine_without_shared_memory_refuses_a_stream_that_carries_it) {
  for (const auto& io : {make_default_engine(), make_blocking_engine()}) {
    testing::socket_pair sockets;
    stream_handle carrying(sockets.here.get());
    (void)test::offered_to(carrying, sockets.there.get(), ring_size);
    noting_stream stream;
    BOOST_TEST(io->add(stream, static_cast<stream_handle&&>(carrying)) == boost::system::errc::operation_not_supported);
    BOOST_TEST(carrying.get() == sockets.here.get());
    BOOST_TEST(carrying.carried() != nullptr);
    BOOST_TEST(stream.handle() == -1);
  }
}

BOOST_AUTO_TEST_CASE(other_channels_are_the_inner_engines) {
  shm::shm_engine io{std::make_unique<epoll_engine>()};
  std::array<int, 2> sockets{};
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0);
  const file_descriptor there(sockets[1]);
  noting_stream stream;
  BOOST_REQUIRE(!io.add(stream, sockets[0]));
  BOOST_TEST(::send(there.get(), "plain", 5, 0) == 5);
  BOOST_TEST(io.poll(engine::forever));
  BOOST_TEST(stream.received == "plain");
  io.remove(stream);
  io.close(sockets[0]);
}
