// SPDX-License-Identifier: BSL-1.0
// allocation_test: in steady state no model allocates for a message, in either flavour. Skipped under sanitizers.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "sanitized.hpp"

#include <quintet/threadmodels/server.hpp>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

namespace {
std::atomic<std::size_t> allocations{0};
}

#ifndef QUINTET_TEST_SANITIZED
// All other forms end in these. Not inlined: the compiler would see new and free as a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::size_t connections = 4;
constexpr int rounds = 2000;
constexpr std::string_view message = "sixty-four bytes of a message, as many as a small request has.\n";

/// Echoes whole messages, so that the rest of a cut one is kept for the next time.
struct echo_callback {
  std::size_t operator()(connection& c, bytes in) const {
    const std::size_t whole = in.size() - in.size() % message.size();
    c.write(in.substr(0, whole));
    return whole;
  }
};

/// Offloads, so that something crosses threads where there is a pool, and awaits a coroutine of its own.
awaitable<std::size_t> length(stream& s, bytes in) {
  co_return co_await s.offload([in] { return in.size(); });
}
awaitable<> echo_coroutine(stream& s) {
  while (const auto in = co_await s.read()) s.write(in->substr(0, co_await length(s, *in)));
}

/// The client shares the process, so it allocates nothing in a round either. False: a reply was wrong.
bool converse(std::vector<client>& clients, std::size_t pipelined, int times) {
  std::string requests;
  for (std::size_t i = 0; i < pipelined; ++i) requests += message;
  std::string reply(requests.size(), '\0');
  bool right = true;
  for (int i = 0; i < times && right; ++i) {
    for (client& c : clients) right = right && c.send(requests);
    for (client& c : clients) right = right && c.receive_into(reply) && reply == requests;
  }
  return right;
}

/// What converse() allocates once, however many rounds there are, is known from one round.
template <class Handler>
void check(model kind, Handler handler, std::size_t pipelined) {
  // A fixed pool: a thread that an elastic one starts is no message's cost, but would be counted here.
  running<server<Handler>> srv(config{.model = kind, .loops = 2, .workers = {2, 2}}, handler);
  std::vector<client> clients;
  for (std::size_t i = 0; i < connections; ++i) clients.emplace_back(srv->port());
  bool right = converse(clients, pipelined, rounds);
  std::size_t before = allocations;
  right = right && converse(clients, pipelined, 1);
  const std::size_t overhead = allocations - before;
  before = allocations;
  right = right && converse(clients, pipelined, rounds);
  const std::size_t measured = allocations - before;
  BOOST_TEST(right);
  BOOST_TEST(measured <= overhead, kind << ": " << measured - overhead << " allocations for "
                                        << rounds * connections * pipelined << " messages");
}

boost::test_tools::assertion_result can_count(boost::unit_test::test_unit_id) {
#ifdef QUINTET_TEST_SANITIZED
  return false;
#else
  return true;
#endif
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_AUTO_TEST_CASE(the_count_counts) {
  const std::size_t before = allocations;
  const auto made = std::make_unique<std::array<char, 100>>();
  BOOST_TEST(allocations == before + 1);
  BOOST_TEST((made != nullptr));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(one_message_at_a_time, data::make(all_combinations), under) {
  if (under.is_coroutine())
    check(under.kind, &echo_coroutine, 1);
  else
    check(under.kind, echo_callback(), 1);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(sixteen_messages_at_a_time, data::make(all_combinations), under) {
  if (under.is_coroutine())
    check(under.kind, &echo_coroutine, 16);
  else
    check(under.kind, echo_callback(), 16);
}

}  // namespace
}  // namespace quintet::test
