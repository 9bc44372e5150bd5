// SPDX-License-Identifier: BSL-1.0
// engine_accept_trouble_test: accepting that the system refuses, or that busy connections delay.
#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/file_descriptor.hpp>
#include <quintet/net/options/loop_options.hpp>

#include "each_engine.hpp"
#include "needs.hpp"
#include "sockets.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace quintet {
namespace {

using namespace std::chrono_literals;
using testing::connected_to;
using testing::until;

struct listening final : accept_channel {
  void on_accepted(int handle) noexcept override { accepted.emplace_back(handle); }
  void on_accept_error(error_code reason) noexcept override {
    failed = reason;
    ++errors;
  }
  std::vector<file_descriptor> accepted;
  error_code failed;
  int errors = 0;
};

/// An engine that watches a listener.
struct fixture {
  explicit fixture(testing::tested_engine kind) : io(make_engine(kind)), handle(io->sockets().listen("127.0.0.1:0")) {
    BOOST_REQUIRE(!io->add(l, handle));
  }
  ~fixture() {
    io->remove(l);
    io->close(handle);
    while (io->poll(0ms)) {
    }
  }
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;

  void connect(int count) {
    for (int i = 0; i < count; ++i) clients.push_back(connected_to(at));
  }

  std::unique_ptr<engine> io;
  int handle;
  address at = io->sockets().local_address(handle);
  std::vector<file_descriptor> clients;
  listening l;
};

/// Makes the system call fail with this error on the calling thread only. Returns false if the system forbids it.
bool refuse(long call, int error) {
  std::array<sock_filter, 4> program{
      sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))),
      sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1)),
      sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error))),
      sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW))};
  const sock_fprog filter{program.size(), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

/// The engines that call accept4, which a seccomp filter can refuse.
std::vector<testing::tested_engine> that_call_accept() {
  std::vector<testing::tested_engine> engines = testing::usable();
  std::erase(engines, testing::tested_engine(engine_kind::uring));
  return engines;
}

// Simulates a security module. One such error may concern a single connection; many in a row are a lasting failure.
BOOST_DATA_TEST_CASE(a_refusal_that_stays_is_reported, boost::unit_test::data::make(that_call_accept()), kind) {
  fixture f(kind);
  f.connect(1);
  bool refused = false, reported = false;
  std::thread([&] {
    refused = refuse(SYS_accept4, EPERM);
    reported = refused && until(*f.io, [&] { return f.l.failed.failed(); });
  }).join();
  if (!refused) {
    BOOST_TEST_MESSAGE("this system lets nobody filter system calls");
    return;
  }
  BOOST_TEST(reported);
  BOOST_TEST(f.l.failed == error_code(EPERM, boost::system::system_category()));
  BOOST_TEST(f.l.errors == 1);
  BOOST_TEST(until(*f.io, [&] { return f.l.accepted.size() == 1U; }));  // this thread has no filter
}

// Linux allocates a descriptor before it looks for a waiting connection. io_uring reports that at once: not tested
// here.
BOOST_DATA_TEST_CASE(the_last_descriptor_is_no_trouble_while_nobody_waits,
                     boost::unit_test::data::make(that_call_accept()), kind) {
  fixture f(kind);
  for (int i = 0; i < 3; ++i) f.io->poll(1ms);
  f.connect(1);
  const file_descriptor later = testing::socket_for(f.at);
  const testing::no_descriptors none(1);
  BOOST_TEST(until(*f.io, [&] { return f.l.accepted.size() == 1U; }));
  for (int i = 0; i < 3; ++i) f.io->poll(1ms);
  BOOST_TEST(f.l.errors == 0);
  BOOST_TEST(testing::connect(later, f.at));
  BOOST_TEST(until(*f.io, [&] { return f.l.errors > 0; }));
  BOOST_TEST(f.l.failed == boost::system::errc::too_many_files_open);
}

boost::test_tools::assertion_result needs_uring(boost::unit_test::test_unit_id id) {
  const error_code why = refused_by_kernel(engine_kind::uring);
  return testing::skipped_unless(!why, id, "this kernel has no io_uring of the kind: " + why.message());
}

// io_uring accepts without that system call. A datagram socket always refuses, with an error that could concern a
// single connection.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(needs_uring))
BOOST_AUTO_TEST_CASE(a_refusal_that_stays_is_reported_by_a_ring) {
  const auto io = make_engine(engine_kind::uring);
  const file_descriptor datagrams(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  listening l;
  BOOST_REQUIRE(!io->add(l, datagrams.get()));
  BOOST_TEST(until(*io, [&] { return l.failed.failed(); }));
  BOOST_TEST(l.failed == error_code(EOPNOTSUPP, boost::system::system_category()));
  BOOST_TEST(l.errors == 1);
  io->set_reading(l, false);
  while (io->poll(0ms)) {
  }
  BOOST_TEST(l.errors == 1);
  io->remove(l);
  while (io->poll(0ms)) {
  }
}

QUINTET_ENGINE_TEST(all_who_wait_are_accepted_without_a_turn) {
  fixture f(kind);
  for (int i = 0; i < 3; ++i) f.io->poll(1ms);
  f.connect(300);
  error_code failed;
  for (int i = 0; i < 300; ++i) {
    const file_descriptor accepted(f.io->sockets().accept(f.handle, failed));
    BOOST_REQUIRE(!!accepted);
  }
  BOOST_TEST(f.io->sockets().accept(f.handle, failed) == -1);
  BOOST_TEST(!failed);
}

/// Takes 1 ms for each message.
struct busy final : stream_channel {
  explicit busy(int h) : fd(h) {}
  void on_received(bytes) override { std::this_thread::sleep_for(1ms); }
  void on_receive_end(error_code) override {}
  void on_sendable() override {}
  file_descriptor fd;
};

// If each turn received from all streams, it would take 100 ms.
QUINTET_ENGINE_TEST(connections_that_keep_the_loop_busy_do_not_keep_others_out) {
  fixture f(kind);
  f.connect(100);
  BOOST_REQUIRE(until(*f.io, [&] { return f.l.accepted.size() == 100U; }));
  std::deque<busy> streams;
  for (file_descriptor& fd : f.l.accepted) {
    busy& made = streams.emplace_back(fd.release());
    BOOST_REQUIRE(!f.io->add(made, made.fd.get()));
  }
  f.l.accepted.clear();
  f.connect(100);
  int received_in = 0;
  for (; received_in < 1000 && f.l.accepted.size() < 100; ++received_in) {
    for (std::size_t i = 0; i < 100; ++i) BOOST_REQUIRE(::send(f.clients[i].get(), "x", 1, MSG_DONTWAIT) == 1);
    f.io->poll(10ms);
  }
  BOOST_TEST(received_in <= 9);  // with 8 accepts a turn it would be 13
  for (busy& s : streams) f.io->remove(s);
}

}  // namespace
}  // namespace quintet
