// SPDX-License-Identifier: BSL-1.0
// starting_test: servers and clients start without enough descriptors or threads. They report an error, and never end
// the process.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "census.hpp"
#include "combination.hpp"
#include "free_descriptors.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

const auto echo = [](connection& c, bytes in) { c.write(in); };

config every_kind_of_thread(model kind) {
  return {.listen = {"127.0.0.1:0", {"127.0.0.1:0", {.priority = true}}},
          .model = kind,
          .threads = {.loops = 3, .workers = {2, 2}}};
}

/// Returns whether the server ran until it was stopped. If not, it has thrown the expected exception.
bool runs(model kind) {
  try {
    server srv(every_kind_of_thread(kind), echo);
    srv.main_loop().after(std::chrono::milliseconds(1), [&] { srv.stop(); });  // before, the loop waits for events
    srv.start();
    BOOST_CHECK_NO_THROW(srv.main_loop().run());  // the owner may have announced the server
    srv.finish();
    return true;
  } catch (const boost::system::system_error& e) {
    const bool names_a_thread = std::string(e.what()).starts_with("cannot start the thread qnt-");
    BOOST_TEST((e.code() == (names_a_thread ? boost::system::errc::resource_unavailable_try_again
                                            : boost::system::errc::too_many_files_open)));
  }
  return false;
}

BOOST_DATA_TEST_CASE(a_server_with_too_few_descriptors, data::make(all_models), kind) {
  constexpr std::size_t enough = 60;
  const std::size_t descriptors = descriptors_of("");
  BOOST_REQUIRE(runs(kind));  // now the process has opened what it opens only once
  int failed = 0;
  bool ran = false;
  for (std::size_t count = 0; count < enough && !ran; ++count) {
    const free_descriptors few(count);
    ran = runs(kind);
    failed += !ran;
  }
  BOOST_TEST(ran);
  BOOST_TEST(failed > 3);
  BOOST_TEST(eventually(no_server_threads));
  BOOST_TEST(descriptors_of("") == descriptors);
}

/// make() returns a server or a client, with ever more free descriptors, until it runs in the background.
template <class Make>
void runs_in_the_background_or_says_why(Make make) {
  bool ran = false;
  int failed = 0;
  for (std::size_t count = 0; count < 60 && !ran; ++count) {
    const free_descriptors few(count);
    try {
      const auto made = make();
      made->run_in_background();
      BOOST_CHECK_THROW(made->run(), std::logic_error);
      BOOST_CHECK_THROW(made->run_in_background(), std::logic_error);
      ran = true;
    } catch (const boost::system::system_error& e) {
      BOOST_TEST((e.code() == boost::system::errc::too_many_files_open));
      ++failed;
    }
  }
  BOOST_TEST(ran);
  BOOST_TEST(failed > 0);
}

BOOST_DATA_TEST_CASE(a_client_in_the_background_with_too_few_descriptors, data::make(all_models), kind) {
  runs_in_the_background_or_says_why([kind] {
    return std::make_unique<quintet::client>(client_config{.model = kind, .threads = {.loops = 3}}, echo);
  });
}

BOOST_DATA_TEST_CASE(a_server_in_the_background_with_too_few_descriptors, data::make(all_models), kind) {
  runs_in_the_background_or_says_why([kind] { return std::make_unique<server>(every_kind_of_thread(kind), echo); });
  BOOST_TEST(eventually(no_server_threads));
}

/// Keeps the calling thread from starting threads. Returns whether the system permits that.
bool start_no_threads() {
  constexpr std::uint32_t fails = SECCOMP_RET_ERRNO | EAGAIN;
  std::array<sock_filter, 6> program{sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))),
                                     sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0)),
                                     sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0)),
                                     sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)),
                                     sock_filter(BPF_STMT(BPF_RET | BPF_K, fails)),
                                     sock_filter(BPF_STMT(BPF_RET | BPF_K, fails))};
  const sock_fprog filter{program.size(), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

BOOST_DATA_TEST_CASE(a_server_that_can_start_no_threads, data::make(all_models), kind) {
  bool can_refuse = false, ran = false;
  std::thread([&] {
    can_refuse = start_no_threads();
    if (can_refuse) ran = runs(kind);
  }).join();
  if (!can_refuse) {
    BOOST_TEST_MESSAGE("this system lets nobody filter system calls");
    return;
  }
  BOOST_TEST(!ran);  // at least the priority loop needs a thread
  BOOST_TEST(eventually(no_server_threads));
}

}  // namespace
}  // namespace quintet::test
