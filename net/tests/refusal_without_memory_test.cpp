// SPDX-License-Identifier: BSL-1.0
// refusal_without_memory_test: on_refused is called although there is no memory for the peer's address in the log.
// ctest: NOT_UNDER thread
#include <quintet/net/server/acceptor.hpp>

#include "sockets.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <new>
#include <vector>

namespace {

bool has_memory = true;

void* allocate(std::size_t size) {
  void* const memory = has_memory ? std::malloc(size) : nullptr;
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace quintet;

BOOST_AUTO_TEST_CASE(who_is_refused_for_lack_of_memory_is_told_of) {
  int lines = 0;
  std::vector<error_code> refused;
  refused.reserve(1);
  const log_hook log = [&](const log_event& e) { lines += e.reason == boost::system::errc::not_enough_memory; };
  const accept_limits limits{.on_refused = [&](error_code why, const address&) {
    refused.push_back(why);
    return std::string(100, 'x');  // there is no memory for these either
  }};
  connection_limiter limiter(limits);
  event_loop loop;
  acceptor accepts(loop, limits, {}, limiter, log, [](event_loop&, stream_handle&&, connection_permit) {
    has_memory = false;
    throw std::bad_alloc();
  });
  const address at = accepts.listen("127.0.0.1:0").at();
  accepts.start();
  const address from("127.100.100.100:0");  // a text that is too long for a string without memory
  const file_descriptor client = testing::socket_for(at);
  BOOST_REQUIRE(::bind(client.get(), from.data(), from.size()) == 0);
  BOOST_REQUIRE(testing::connect(client, at));
  while (loop.poll()) {
  }
  has_memory = true;
  BOOST_TEST((refused == std::vector<error_code>{make_error_code(boost::system::errc::not_enough_memory)}));
  BOOST_TEST(lines == 1);
  BOOST_TEST(accepts.refused() == 1U);
}
