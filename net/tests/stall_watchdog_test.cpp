// SPDX-License-Identifier: BSL-1.0
// stall_watchdog_test: a watchdog that has no memory for all that it has found.
// ctest: NOT_UNDER thread
#include <quintet/net/watch/activity.hpp>
#include <quintet/net/watch/stall_watchdog.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

thread_local bool is_watchdog = true;  // every other thread of this program says that it is none
std::atomic<int> until_failure{0};     // allocations of the watchdog's thread, up to the one that fails

void* allocate(std::size_t size) {
  if (is_watchdog && until_failure > 0 && --until_failure == 0) throw std::bad_alloc();
  void* const memory = std::malloc(size);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace quintet;
using namespace std::chrono_literals;

// Both threads are found by the same look, which has memory for one of them.
BOOST_AUTO_TEST_CASE(a_thread_that_was_found_is_told_although_there_is_no_memory_for_the_next_one) {
  is_watchdog = false;
  const std::array calls{callback::on_open, callback::on_writable};
  std::vector<std::string> told;  // the watchdog's thread's, until the last one was told
  std::atomic<bool> last_is_told{false};
  const log_hook log;
  const auto note = [&](const stall& s) {
    told.emplace_back(s.call);
    if (s.call != to_string(calls.back())) return;
    last_is_told = true;
    last_is_told.notify_all();
  };
  stall_watchdog dog({.bound = 20ms, .on_stall = note}, log, [](const connection_id&) { return std::string(); });
  std::atomic<int> stalled{0};
  std::vector<std::thread> threads;
  for (const callback call : calls) {
    threads.emplace_back([&, call] {
      is_watchdog = false;
      dog.watch_this_thread();
      const callback_scope scope(call);
      ++stalled;
      stalled.notify_all();
      last_is_told.wait(false);
    });
    for (int count; (count = stalled) < static_cast<int>(threads.size());) stalled.wait(count);
  }
  until_failure = 2;
  dog.start();
  for (std::thread& t : threads) t.join();
  dog.stop();
  BOOST_TEST(until_failure == 0);
  BOOST_TEST((told == std::vector<std::string>{"on_open", "on_writable"}));
}
