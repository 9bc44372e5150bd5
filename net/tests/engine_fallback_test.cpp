// SPDX-License-Identifier: BSL-1.0
// engine_fallback_test: where the kernel refuses io_uring (here: a filter of this process), epoll takes its place.
#include <quintet/net/engine/make_engine.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace quintet {
namespace {

/// For the rest of this process's life.
bool forbid_io_uring() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(epoll_takes_the_place_and_the_log_is_told_once) {
  if (std::ranges::count(built_engines(), engine_kind::uring) == 0) return;
  BOOST_REQUIRE(forbid_io_uring());
  std::vector<std::string> log;
  const auto io = make_engine(engine_kind::uring, [&](const log_event& e) {
    log.push_back(std::string(to_string(e.level)) + ": " + to_string(e));
  });
  BOOST_TEST(io->capabilities().name == "epoll");
  BOOST_REQUIRE(log.size() == 1U);
  BOOST_TEST(log.front() == "warning: the kernel refuses io_uring; epoll is used instead: Operation not permitted");
  BOOST_TEST(refused_by_kernel(engine_kind::uring) == error_code(EPERM, boost::system::system_category()));
  BOOST_TEST(!refused_by_kernel(engine_kind::epoll));
  BOOST_TEST(make_engine(engine_kind::uring)->capabilities().name == "epoll");  // without a log, too
}

}  // namespace quintet
