// SPDX-License-Identifier: BSL-1.0
// shm_fairness_test: rings and sockets of one engine share its turns by what they take, and no wake-up is lost.
#include "segment_access.hpp"
#include "shm_peer.hpp"

#include <quintet/net/engine/embedding.hpp>
#include <quintet/net/engine/epoll_engine.hpp>
#include <quintet/net/engine/shm/shm_engine.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <sys/eventfd.h>
#include <sys/socket.h>

using namespace quintet;

namespace {

/// What a look at the sockets separates.
struct tally {
  std::size_t bytes = 0, served = 0, most_bytes = 0, most_served = 0, looks = 0;
};

/// A stream whose peer sends again whatever was received.
class busy_stream final : public stream_channel {
 public:
  busy_stream(shm::shm_engine& io, std::size_t ring_size, std::size_t message, tally& all)
      : io_(io), text_(message, 'x'), all_(all) {
    testing::socket_pair sockets;
    here_ = sockets.here.release();
    there_ = std::move(sockets.there);
    peer_ = test::offered_to(here_, there_.get(), ring_size);
    BOOST_REQUIRE(!io.add(*this, std::move(here_)));
    send();
  }
  ~busy_stream() { io_.close(io_.remove(*this)); }

 private:
  void on_received(bytes arrived) override {
    all_.bytes += arrived.size();
    ++all_.served;
    send();
  }
  void on_receive_end(error_code) override {}
  void on_sendable() override {}
  void send() {
    const std::size_t count = peer_.out.copy_in(0, text_);
    if (peer_.out.commit(count)) shm::wake_peer(there_.get());
  }

  shm::shm_engine& io_;
  const std::string text_;
  tally& all_;
  stream_handle here_;
  file_descriptor there_;
  shm::endpoint peer_;
};

/// Always readable, so each look at the sockets finds it.
class readable final : public event_channel {
 public:
  explicit readable(tally& all) : all_(all) {}
  const file_descriptor fd{::eventfd(1, EFD_CLOEXEC)};

 private:
  void on_event() override {
    all_.most_bytes = std::max(all_.most_bytes, all_.bytes);
    all_.most_served = std::max(all_.most_served, all_.served);
    all_.bytes = all_.served = 0;
    ++all_.looks;
  }
  tally& all_;
};

}  // namespace

BOOST_DATA_TEST_CASE(busy_rings_leave_the_sockets_their_turn,
                     boost::unit_test::data::make({1U, 8U, 64U}) * boost::unit_test::data::make({64U, 65536U}), rings,
                     message) {
  shm::shm_engine io{std::make_unique<epoll_engine>()};
  tally all;
  readable socket(all);
  std::vector<std::unique_ptr<busy_stream>> streams;
  for (unsigned i = 0; i < rings; ++i)
    streams.push_back(std::make_unique<busy_stream>(io, std::size_t{64} * 1024, message, all));
  BOOST_REQUIRE(!io.add(socket, socket.fd.get()));
  while (all.looks == 0) (void)io.poll(duration::zero());
  all = {};
  for (int i = 0; i < 10'000; ++i) (void)io.poll(duration::zero());
  BOOST_TEST(all.looks > 100U);
  BOOST_TEST(all.most_bytes <= 256U * 1024 + 65536);
  BOOST_TEST(all.most_served <= 64U);
  io.remove(socket);
}

namespace {

class silent_stream final : public stream_channel {
  void on_received(bytes) override {}
  void on_receive_end(error_code) override {}
  void on_sendable() override {}
};

/// A stream of an engine, and its peer.
struct pair {
  explicit pair(std::size_t ring_size = 4096) {
    testing::socket_pair sockets;
    here = sockets.here.release();
    there = std::move(sockets.there);
    peer = test::offered_to(here, there.get(), ring_size);
    BOOST_REQUIRE(!io.add(stream, std::move(here)));
  }
  ~pair() { io.close(io.remove(stream)); }
  shm::shm_engine io{std::make_unique<epoll_engine>()};
  silent_stream stream;
  stream_handle here;
  file_descriptor there;
  shm::endpoint peer;
};

}  // namespace

// The only claim about time is that a stream stays awake for at least so long, however fast the machine is.
BOOST_AUTO_TEST_CASE(a_spinning_engine_stays_awake_for_its_streams_for_a_time_and_not_for_a_number_of_polls) {
  const pair p;
  shm::shm_engine& io = const_cast<pair&>(p).io;
  const auto& sleeps = shm::segment_access(p.peer.memory).control(false).consumer_sleeps;
  const auto begin = std::chrono::steady_clock::now();
  long polls = 0;
  for (; sleeps.load() == 0 && polls < 100'000'000; ++polls) (void)io.poll(duration::zero());
  BOOST_TEST(sleeps.load() == 1U);  // an idle stream costs nothing in the end
  BOOST_TEST((std::chrono::steady_clock::now() - begin >= std::chrono::microseconds(250)));
  BOOST_TEST(polls >= 64);
}

// A consumer takes the producer's request when it makes room. If the producer has seen that room before, its next
// request can be taken by the same call. It is woken, finds no room, and must ask again.
BOOST_AUTO_TEST_CASE(a_stream_that_is_woken_without_room_asks_for_it_again) {
  pair p;
  BOOST_TEST(p.io.send(p.stream, bytes(std::string(5000, 'x'))).bytes == 4096U);
  auto& waits = shm::segment_access(p.peer.memory).control(true).producer_waits;
  BOOST_TEST(waits.load() == 1U);
  for (int i = 0; i < 3; ++i) {
    waits = 0;
    shm::wake_peer(p.there.get());
    for (int turn = 0; turn < 16; ++turn) (void)p.io.poll(duration::zero());
    BOOST_TEST(p.io.embedding()->descriptor() >= 0);  // as before a wait
    BOOST_TEST(waits.load() == 1U);
  }
  BOOST_TEST(!p.peer.in.release(0));  // makes no room
  BOOST_TEST(waits.load() == 1U);
  BOOST_TEST(p.peer.in.available() == 4096U);
  BOOST_TEST(p.peer.in.release(1));
}
