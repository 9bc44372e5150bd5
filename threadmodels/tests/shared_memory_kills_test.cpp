// SPDX-License-Identifier: BSL-1.0
// shared_memory_kills_test: clients over shared memory are killed at random instructions. The server receives what each
// had committed, in order and once, and then the end; nothing remains.
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/long_runs.hpp"
#include "forked.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/shared_memory_client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <random>
#include <string>

#include <sched.h>

namespace quintet::test {
namespace {

using clock = std::chrono::steady_clock;

/// A message is its number in 8 bytes, then so many bytes of its lowest byte.
constexpr std::size_t size_of_message(std::uint64_t number) { return 8 + number * 37 % 200; }

/// The work of a client. Its parent reads these while the client runs.
struct progress {
  std::atomic<std::uint64_t> committed{0};  ///< messages
};

/// Connects once a server listens.
std::unique_ptr<shared_memory_client> connect(const std::string& at) {
  for (;;) try {
      return std::make_unique<shared_memory_client>(at);
    } catch (const boost::system::system_error&) {
      ::sched_yield();
    }
}

/// Sends messages without end. Where the ring is nearly full, a message is committed in pieces.
int send_for_ever(const std::string& at, progress& done) {
  const auto c = connect(at);
  std::array<char, 256> message{};
  for (std::uint64_t number = 0;; ++number) {
    std::memcpy(message.data(), &number, sizeof number);
    std::fill(message.begin() + 8, message.end(), static_cast<char>(number));
    c->send({message.data(), size_of_message(number)});
    done.committed.store(number + 1);
  }
}

struct received {
  std::uint64_t messages = 0;
  bool wrong = false;
  error_code why;
  clock::time_point ended;
};

/// Checks each message, and reports when the connection has ended.
struct checking {
  std::promise<received>* result;
  received seen = {};
  std::size_t operator()(connection&, bytes in) {
    std::size_t used = 0;
    while (in.size() - used >= 8) {
      std::uint64_t number = 0;
      std::memcpy(&number, in.data() + used, sizeof number);
      const std::size_t size = size_of_message(seen.messages);
      if (number != seen.messages) seen.wrong = true;
      if (in.size() - used < size) break;
      const bytes rest = in.substr(used + 8, size - 8);
      seen.wrong |= std::ranges::any_of(rest, [&](char c) { return c != static_cast<char>(number); });
      ++seen.messages;
      used += size;
    }
    return used;
  }
  void on_close(connection&, error_code why) {
    seen.why = why;
    seen.ended = clock::now();
    result->set_value(seen);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_killed_client_had_committed_arrives_and_nothing_else) {
  const std::string at = fresh_unix_address();
  const shared_object<progress> done;
  const int rounds = is_long() ? 1000 : 20;
  std::mt19937 random(20);
  clock::duration longest{};
  for (int i = 0; i < rounds; ++i) {
    std::promise<received> result;
    auto future = result.get_future();
    done->committed = 0;
    // The child is forked while this process has one thread, so it waits for the server.
    forked child([&] { return send_for_ever(at, *done); });
    running<server> srv(
        config{
            .listen = {{at, {.upgrade = connection_upgrade::shared_memory, .shared_memory = {.ring_size = 16 * 1024}}}},
            .model = all_models[static_cast<std::size_t>(i) % all_models.size()],
            .threads = {.loops = 1, .workers = {1, 1}}},
        checking{&result});
    const std::uint64_t enough = 1 + random() % 3000;
    while (done->committed < enough) ::sched_yield();
    const clock::time_point killed = clock::now();
    child.kill();
    const received got = future.get();
    const std::uint64_t committed = done->committed;  // one more may have been committed and not counted
    BOOST_TEST(!got.wrong);
    BOOST_TEST((got.messages == committed || got.messages == committed + 1));
    BOOST_TEST(got.why == boost::system::errc::connection_reset);
    longest = std::max(longest, got.ended - killed);
  }
  BOOST_TEST(mapped_segments() == 0);
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(longest).count();
  BOOST_TEST_MESSAGE(rounds << " kills; the end was seen after at most " << us << " us");
}

}  // namespace quintet::test
