// SPDX-License-Identifier: BSL-1.0
// engine_closing_test: what becomes of bytes that were taken when a stream ends, of every engine that this kernel has.
#include <quintet/net/engine/closing_stream.hpp>
#include <quintet/net/engine/kernel_sockets.hpp>
#include <quintet/net/engine/socket_services.hpp>

#include "engine_stream.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace quintet {
namespace {

using namespace std::chrono_literals;
using testing::numbered;

/// Whose peer reads nothing for now.
struct fixture : testing::engine_stream {
  explicit fixture(testing::tested_engine kind) : engine_stream(kind) {
    io->sockets().limit_buffers(handle, {.send_buffer = 16 * 1024});
    watch();
  }
  /// In small pieces, which an engine may like to keep until there is room; taken is what it has taken.
  void fill() {
    const std::string text = numbered(16'000'000);
    taken = text.substr(0, send_until_full(text));
    BOOST_REQUIRE(taken.size() < text.size());
  }
  void end(bool closes) {
    if (!closes) return io->shutdown_send(here);
    io->remove(here);
    io->close(std::exchange(handle, -1));
  }
  std::string taken;
};

bool is_open(int handle) { return ::fcntl(handle, F_GETFD) >= 0; }

QUINTET_ENGINE_TEST(what_was_taken_leaves_before_the_end) {
  for (const bool closes : {false, true}) {
    fixture f(kind);
    error_code broken;
    BOOST_TEST(f.send("goodbye", broken) == 7U);
    f.end(closes);
    f.poll_until_idle();
    BOOST_TEST(f.heard(100) == "goodbye");
  }
}

QUINTET_ENGINE_TEST(what_was_taken_when_there_was_no_room_leaves_before_the_end) {
  for (const bool closes : {false, true}) {
    fixture f(kind);
    f.fill();
    f.end(closes);
    f.poll_until_idle();
    BOOST_TEST((f.heard_by_another_thread([&] { f.io->poll(10ms); }) == f.taken));
  }
}

// What is closed while the peer has no room for the last bytes keeps its descriptor, beyond all limits of connections.
BOOST_AUTO_TEST_CASE(handles_that_wait_to_be_closed_are_bounded) {
  if (refused_by_kernel(engine_kind::uring)) return;
  constexpr std::size_t all = 600, most = 512;  // as many as there are slots for what is being sent
  struct silent final : stream_channel {
    void on_received(bytes) override {}
    void on_receive_end(error_code) override {}
    void on_sendable() override {}
  };
  const auto io = make_engine(engine_kind::uring);
  std::deque<silent> streams(all);
  std::vector<int> handles;
  std::vector<file_descriptor> peers;
  const std::string much(64 * 1024, 'x');
  for (silent& s : streams) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    handles.push_back(ends[0]);
    peers.emplace_back(ends[1]);
    while (::send(ends[0], much.data(), much.size(), MSG_DONTWAIT) > 0) {
    }
    BOOST_REQUIRE(!io->add(s, ends[0]));
  }
  for (silent& s : streams) (void)io->send(s, "the last words");
  for (int i = 0; i < 5; ++i) io->poll(1ms);
  for (std::size_t i = 0; i < all; ++i) {
    io->remove(streams[i]);
    io->close(handles[i]);
  }
  for (int i = 0; i < 5; ++i) io->poll(1ms);
  const auto open = [&] { return static_cast<std::size_t>(std::ranges::count_if(handles, is_open)); };
  BOOST_TEST(testing::until(*io, [&] { return open() <= most; }));
  BOOST_TEST(open() > most / 2);  // a few have found room
  peers.clear();
  BOOST_TEST(testing::until(*io, [&] { return open() == 0; }));
}

QUINTET_ENGINE_TEST(nor_is_it_lost_at_the_end_of_the_loop) {
  fixture f(kind);
  f.fill();
  const int handle = f.handle;
  f.end(true);
  BOOST_TEST((f.heard_by_another_thread([&] { f.io->flush(engine::flush_extent::closing); }) == f.taken));
  BOOST_TEST(!is_open(handle));
}

QUINTET_ENGINE_TEST(a_peer_that_reads_nothing_does_not_keep_a_loop_from_its_end) {
  fixture f(kind);
  f.fill();
  const int handle = f.handle;
  f.end(true);
  f.io->flush(engine::flush_extent::closing);
  BOOST_TEST(!is_open(handle));
}

// uring_engine and filtering_engine call gives_up() each time that closing_stream::patience has passed.
QUINTET_ENGINE_TEST(a_closed_stream_is_kept_as_long_as_its_peer_takes_bytes) {
  const fixture f(kind);
  closing_stream waits;
  waits.wait(1000);
  BOOST_TEST(!waits.gives_up(999, f.io->sockets(), f.handle));
  BOOST_TEST(!kernel_sockets::resets_when_closed(f.handle));
  waits.wait(999);
  BOOST_TEST(waits.gives_up(999, f.io->sockets(), f.handle));
  BOOST_TEST(kernel_sockets::resets_when_closed(f.handle));
}

QUINTET_ENGINE_TEST(a_reset_waits_for_nobody) {
  fixture f(kind);
  f.fill();
  const int handle = f.handle;
  f.io->sockets().reset_when_closed(handle);
  f.end(true);
  f.poll_until_idle();
  BOOST_TEST(!is_open(handle));
}

}  // namespace
}  // namespace quintet
