// SPDX-License-Identifier: BSL-1.0
// uring_deferred_test: what the engine over io_uring does with requests for which its ring has no room.
#include <quintet/net/engine/make_engine.hpp>
#include <quintet/net/file_descriptor.hpp>

#include "engine_stream.hpp"
#include "needs.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace quintet {
namespace {

using namespace std::chrono_literals;

/// From now on the kernel takes no requests of the calling thread where that only submits them: the ring fills up.
/// Where the thread asks for completions as well, as in poll(), the kernel takes them.
bool refuse_to_submit() {
  constexpr auto flags = static_cast<std::uint32_t>(offsetof(seccomp_data, args[3]));
  std::array<sock_filter, 6> program{sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))),
                                     sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_enter, 0, 3)),
                                     sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, flags)),
                                     sock_filter(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, IORING_ENTER_GETEVENTS, 1, 0)),
                                     sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN)),
                                     sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW))};
  const sock_fprog filter{program.size(), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0 &&
         ::syscall(SYS_io_uring_enter, -1, 1, 0, 0, nullptr, 0) == -1 && errno == EAGAIN;
}

boost::test_tools::assertion_result needs_a_full_ring(boost::unit_test::test_unit_id id) {
  if (const error_code why = refused_by_kernel(engine_kind::uring))
    return testing::skipped_unless(false, id, "this kernel has no io_uring of the kind: " + why.message());
  bool can = false;
  std::thread([&] { can = refuse_to_submit(); }).join();
  return testing::skipped_unless(can, id, "this system lets nobody filter system calls");
}

struct stream_of_pair {
  explicit stream_of_pair(engine& io) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    handle = ends[0];
    peer = file_descriptor(ends[1]);
    is_watched = !io.add(here, handle);
  }
  [[nodiscard]] bool say(bytes text) const { return ::send(peer.get(), text.data(), text.size(), 0) > 0; }
  testing::stream here;
  file_descriptor peer;
  int handle = -1;
  bool is_watched = false;
};

struct event final : event_channel {
  void on_event() override {}
};

/// Each that is added and removed takes two places.
void fill_ring(engine& io) {
  const file_descriptor never_readable(::eventfd(0, EFD_CLOEXEC));
  event e;
  for (int i = 0; i < 1000; ++i) {
    (void)io.add(e, never_readable.get());
    io.remove(e);
  }
}

/// What the kernel has been refused in the thread that sends is sent by the next thread that polls. Returns what comes.
std::string move_after_a_refused_flush(bool& prepared) {
  const auto io = make_engine(engine_kind::uring);
  std::optional<stream_of_pair> s;
  std::thread([&] {
    s.emplace(*io);
    for (int i = 0; i < 3; ++i) io->poll(1ms);
    prepared = s->is_watched && refuse_to_submit() && io->send(s->here, "refused").bytes == 7;
    io->flush(engine::flush_extent::output);
  }).join();
  for (int i = 0; i < 5; ++i) io->poll(1ms);
  std::string got(100, '\0');
  const auto count = ::recv(s->peer.get(), got.data(), got.size(), MSG_DONTWAIT);
  got.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  io->remove(s->here);
  io->close(s->handle);
  for (int i = 0; i < 5; ++i) io->poll(1ms);
  return got;
}

/// Boost.Test checks in one thread only.
struct findings {
  bool prepared = false, closed = false, heard_again = false;
  std::string heard_while_stopped;
};

bool is_open(int handle) { return ::fcntl(handle, F_GETFD) >= 0; }

findings stop_what_was_deferred() {
  findings f;
  const auto io = make_engine(engine_kind::uring);
  stream_of_pair early(*io);
  for (int i = 0; i < 3; ++i) io->poll(1ms);
  if (!refuse_to_submit()) return f;
  fill_ring(*io);
  stream_of_pair stopped(*io), removed(*io);  // to receive from them is put off
  // A completion is there, so flush() asks for it, and there is room again before the engine makes up for anything.
  f.prepared = early.is_watched && stopped.is_watched && removed.is_watched && early.say("x");
  io->flush(engine::flush_extent::output);
  io->set_reading(stopped.here, false);
  io->remove(removed.here);
  io->close(removed.handle);
  f.closed = testing::until(*io, [&] { return !is_open(removed.handle); });
  f.prepared = f.prepared && stopped.say("y");
  for (int i = 0; i < 5; ++i) io->poll(1ms);
  f.heard_while_stopped = stopped.here.received;
  io->set_reading(stopped.here, true);
  f.heard_again = testing::until(*io, [&] { return stopped.here.received == "y"; });
  for (stream_of_pair* s : {&early, &stopped}) {
    io->remove(s->here);
    io->close(s->handle);
  }
  for (int i = 0; i < 5; ++i) io->poll(1ms);
  return f;
}

}  // namespace

// The kernel would look in vain for a request that it has not got yet, and then nobody would ever cancel it.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(needs_a_full_ring))
BOOST_AUTO_TEST_CASE(what_is_cancelled_before_the_kernel_has_it_does_not_begin) {
  findings f;
  std::thread([&] { f = stop_what_was_deferred(); }).join();
  BOOST_TEST(f.prepared);
  BOOST_TEST(f.closed);
  BOOST_TEST(f.heard_while_stopped.empty());
  BOOST_TEST(f.heard_again);
}

// The kernel says nothing of a small send that has left, so one that it was never given must not count as sent.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(needs_a_full_ring))
BOOST_AUTO_TEST_CASE(a_send_that_the_kernel_has_refused_moves_to_another_thread) {
  bool prepared = false;
  BOOST_TEST(move_after_a_refused_flush(prepared) == "refused");
  BOOST_TEST(prepared);
}

}  // namespace quintet
