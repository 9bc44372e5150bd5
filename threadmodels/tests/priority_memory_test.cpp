// SPDX-License-Identifier: BSL-1.0
// priority_memory_test: a heartbeat connects after memory has run out, in all five models.
// ctest: EACH_ENGINE
#include <quintet/base/build/sanitizers.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/server.hpp>

#include <malloc.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>

namespace quintet::test {
namespace {

constexpr std::size_t reserve = 1U << 20U;

/// Allocations of the priority loop's thread fail until a block of the reserve's size is freed.
std::atomic<bool> starving{false};
std::atomic<int> refused{0};

}  // namespace
}  // namespace quintet::test

#if !QUINTET_ADDRESS_SANITIZER && !QUINTET_THREAD_SANITIZER
namespace {

bool is_priority_thread() {
  char name[16]{};
  return ::pthread_getname_np(::pthread_self(), name, sizeof name) == 0 && std::string_view(name) == "qnt-priority";
}

}  // namespace

// Defines the array forms too, because those of tcmalloc do not call the single forms. Not inlined: the compiler would
// see new and free as a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  using namespace quintet::test;
  if (starving && is_priority_thread()) {
    ++refused;
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (malloc_usable_size(memory) >= quintet::test::reserve) quintet::test::starving = false;
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
#endif

namespace quintet::test {
namespace {

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};

bool answers(client& c) { return c.send("x") && c.receive(1) == "x"; }

boost::test_tools::assertion_result can_starve(boost::unit_test::test_unit_id) { return !sanitized; }

config with_priority_loop(model kind, std::size_t memory) {
  return {.listen = {"127.0.0.1:0", {"127.0.0.1:0", {.priority = true}}},
          .model = kind,
          .threads = {.loops = 2, .workers = {2, 2}},
          .advanced = {.priority = {.reserve_memory = memory}}};
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_starve))
BOOST_DATA_TEST_CASE(heartbeats_connect_when_there_is_no_memory, boost::unit_test::data::make(all_models), kind) {
  running<server> srv(with_priority_loop(kind, reserve), echo());
  client first(srv->priority_port());
  BOOST_TEST(answers(first));
  for (std::uint64_t times = 1; times <= 3; ++times) {
    refused = 0;
    starving = true;
    client heart(srv->priority_port());
    BOOST_TEST(answers(heart));
    BOOST_TEST(refused == 1);
    BOOST_TEST(srv->statistics().priority.memory_given == times);
    heart.close();
    BOOST_TEST(eventually([&] { return srv->statistics().priority.open == 1u; }));  // now the reserve is filled again
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_starve))
BOOST_AUTO_TEST_CASE(without_a_reserve_it_is_refused_and_others_go_on) {
  running<server> srv(with_priority_loop(model::single_reactor, 0), echo());
  client first(srv->priority_port());
  BOOST_TEST(answers(first));
  starving = true;
  client heart(srv->priority_port());
  BOOST_TEST(heart.receive_rest().empty());
  starving = false;
  BOOST_TEST(answers(first));
  client next(srv->priority_port());
  BOOST_TEST(answers(next));
}

// The hook runs on the thread that has no memory, so it only counts.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_starve))
BOOST_AUTO_TEST_CASE(what_lacks_memory_is_no_fault_of_the_handler) {
  std::atomic<int> lacks_memory{0}, other_reasons{0};
  config c = with_priority_loop(model::single_reactor, 0);
  c.log = [&](const log_event& e) {
    if (e.level >= severity::warning && e.reason)
      ++(e.reason == boost::system::errc::not_enough_memory ? lacks_memory : other_reasons);
  };
  running<server> srv(c, echo());
  client first(srv->priority_port());
  BOOST_TEST(answers(first));
  starving = true;
  client heart(srv->priority_port());
  BOOST_TEST(heart.receive_rest().empty());
  starving = false;
  BOOST_TEST(lacks_memory == 1);
  BOOST_TEST(other_reasons == 0);
  BOOST_TEST(srv->statistics().handler_errors == 0u);
  BOOST_TEST(srv->statistics().accept_errors == 1u);
}

}  // namespace
}  // namespace quintet::test
