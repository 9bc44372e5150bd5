// SPDX-License-Identifier: BSL-1.0
// proc_reading_test.cpp: what /proc says of this very process, and what cannot be known.
#include "study/proc_reading.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>

#include <sched.h>

#include "compare/child_process.hpp"

namespace quintet::bench {

static proc_reading made_up(double wall_s) {
  proc_reading r;
  r.wall_s = wall_s;
  r.has_migrations = r.has_queue = true;
  return r;
}

BOOST_AUTO_TEST_CASE(page_faults_and_switches_of_this_process_are_seen) {
  const auto before = read_proc(::getpid());
  constexpr std::size_t page = 4096, pages = 200;
  void* const memory = ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  BOOST_TEST_REQUIRE(memory != MAP_FAILED);
  ::madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  ::munmap(memory, pages * page);
  const timespec moment{0, 1'000'000};
  ::nanosleep(&moment, nullptr);  // a voluntary switch, whoever else runs
  const auto after = read_proc(::getpid());
  BOOST_TEST(after.page_faults - before.page_faults >= 200);
  BOOST_TEST(after.tasks.at(::getpid()).voluntary > before.tasks.at(::getpid()).voluntary);
}

BOOST_AUTO_TEST_CASE(a_process_that_is_gone_is_an_error) { BOOST_CHECK_THROW(read_proc(0x7ffffff0), run_error); }

BOOST_AUTO_TEST_CASE(counts_are_those_between_and_a_new_thread_s_are_all) {
  auto before = made_up(10), after = made_up(12);
  before.tasks[1] = {.voluntary = 100, .involuntary = 10, .migrations = 5, .queued_ns = 1e6};
  after.tasks[1] = {.voluntary = 300, .involuntary = 20, .migrations = 7, .queued_ns = 3e6};
  after.tasks[2] = {.voluntary = 200, .involuntary = 0, .migrations = 2, .queued_ns = 0};
  auto found = per_request(before, after, 100, 2);
  BOOST_TEST(found["voluntary_switches_per_request"] == 4);
  BOOST_TEST(found["migrations_per_request"] == 0.04);
  BOOST_TEST(found["run_queue_us_per_request"] == 20);
  // The client was measured for half of the time between the readings.
  BOOST_TEST(per_request(before, after, 100, 1)["voluntary_switches_per_request"] == 2);
}

BOOST_AUTO_TEST_CASE(what_is_not_known_is_not_there) {
  auto before = made_up(0), after = made_up(1);
  before.tasks[1] = {};
  after.tasks[2] = {};  // the thread that is gone took its counts along
  BOOST_TEST(!per_request(before, after, 10, 1).contains("voluntary_switches_per_request"));
  after.tasks[1] = {};
  BOOST_TEST(per_request(before, after, 10, 1).contains("voluntary_switches_per_request"));
  after.has_migrations = false;
  BOOST_TEST(!per_request(before, after, 10, 1).contains("migrations_per_request"));
  BOOST_TEST(per_request(before, after, 0, 1).empty());
}

}  // namespace quintet::bench
