// SPDX-License-Identifier: BSL-1.0
// engine_closing_test: what becomes of bytes that were taken when a stream ends, of every engine that this kernel has.
#include "engine_stream.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

namespace quintet {
namespace {

using namespace std::chrono_literals;
using testing::numbered;

/// Whose peer reads nothing for now.
struct fixture : testing::engine_stream {
  explicit fixture(engine_kind kind) : engine_stream(kind) {
    io->bound_buffers(handle, 16 * 1024, 0);
    watch();
  }
  /// In small pieces, which an engine may like to keep until there is room; taken is what it has taken.
  void fill() {
    const std::string text = numbered(16'000'000);
    taken = text.substr(0, send_until_full(text));
    BOOST_REQUIRE(taken.size() < text.size());
  }
  void end(bool closes) {
    if (!closes) return io->shutdown_send(handle);
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
    f.settle();
    BOOST_TEST(f.heard(100) == "goodbye");
  }
}

QUINTET_ENGINE_TEST(what_was_taken_when_there_was_no_room_leaves_before_the_end) {
  for (const bool closes : {false, true}) {
    fixture f(kind);
    f.fill();
    f.end(closes);
    f.settle();
    BOOST_TEST((f.heard_by_another_thread([&] { f.io->poll(10ms); }) == f.taken));
  }
}

QUINTET_ENGINE_TEST(nor_is_it_lost_at_the_end_of_the_loop) {
  fixture f(kind);
  f.fill();
  const int handle = f.handle;
  f.end(true);
  BOOST_TEST((f.heard_by_another_thread([&] { f.io->finish_closing(); }) == f.taken));
  BOOST_TEST(!is_open(handle));
}

QUINTET_ENGINE_TEST(a_peer_that_reads_nothing_does_not_keep_a_loop_from_its_end) {
  fixture f(kind);
  f.fill();
  const int handle = f.handle;
  f.end(true);
  f.io->finish_closing();
  BOOST_TEST(!is_open(handle));
}

QUINTET_ENGINE_TEST(a_reset_waits_for_nobody) {
  fixture f(kind);
  f.fill();
  const int handle = f.handle;
  f.io->reset_when_closed(handle);
  f.end(true);
  f.settle();
  BOOST_TEST(!is_open(handle));
}

}  // namespace
}  // namespace quintet
