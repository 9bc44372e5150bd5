// SPDX-License-Identifier: BSL-1.0
// shm_allocations_test: an engine with shared memory allocates when a stream is added, and never in a turn.
// ctest: NOT_UNDER address|thread
#include <quintet/net/engine/epoll_engine.hpp>
#include <quintet/net/engine/shm/offer.hpp>
#include <quintet/net/engine/shm/shm_engine.hpp>

#include "counted_new.hpp"
#include "segment_access.hpp"
#include "shm_peer.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <deque>
#include <memory>

namespace quintet::test {
namespace {

constexpr std::size_t ring_size = 4096;

class counting_stream final : public stream_channel {
 public:
  std::size_t received = 0;

 private:
  void on_received(bytes arrived) override { received += arrived.size(); }
  void on_receive_end(error_code) override {}
  void on_sendable() override {}
};

/// A stream that an engine serves, and its peer.
struct connected_stream {
  explicit connected_stream(shm::shm_engine& io) {
    testing::socket_pair sockets;
    here = sockets.here.release();
    there = std::move(sockets.there);
    peer = offered_to(here, there.get(), ring_size);
    BOOST_REQUIRE(!io.add(stream, std::move(here)));
  }
  void peer_sends() {
    BOOST_REQUIRE(peer.out.copy_in(0, "x") == 1U);
    if (peer.out.commit(1)) shm::wake_peer(there.get());
  }
  counting_stream stream;
  stream_handle here;
  file_descriptor there;
  shm::endpoint peer;
};

// Each stream is idle before the next one is added, so the engine's list of awake streams stays short meanwhile.
BOOST_AUTO_TEST_CASE(idle_streams_that_all_wake_in_one_turn_cost_no_allocation) {
  shm::shm_engine io{std::make_unique<epoll_engine>()};
  std::deque<connected_stream> all;
  for (int i = 0; i < 200; ++i) {
    all.emplace_back(io);
    const auto& sleeps = shm::segment_access(all.back().peer.memory).control(false).consumer_sleeps;
    while (sleeps.load() == 0) (void)io.poll(duration::zero());
  }
  for (auto& c : all) c.peer_sends();
  allocations = 0;
  for (int turn = 0; turn < 400; ++turn) (void)io.poll(duration::zero());  // the sockets have their turns too
  BOOST_TEST(allocations.load() == 0U);
  for (auto& c : all) BOOST_TEST(c.stream.received == 1U);
  allocations = 0;
  for (auto& c : all) c.here = io.remove(c.stream);
  BOOST_TEST(allocations.load() == 0U);
  for (auto& c : all) io.close(std::move(c.here));
}

// A removed stream is destroyed in the next turn only.
BOOST_AUTO_TEST_CASE(streams_that_come_and_go_between_two_turns_cost_no_allocation_when_they_go) {
  shm::shm_engine io{std::make_unique<epoll_engine>()};
  for (int i = 0; i < 100; ++i) {
    connected_stream c(io);
    allocations = 0;
    c.here = io.remove(c.stream);
    BOOST_TEST(allocations.load() == 0U);
    io.close(std::move(c.here));
  }
}

}  // namespace
}  // namespace quintet::test
