// SPDX-License-Identifier: BSL-1.0
// storm: the requests of one server, what their clients may have caused, and what their handlers have reported.
#pragma once

#include "combination.hpp"

#include <quintet/net/connection.hpp>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace quintet::test {

inline constexpr unsigned clients = 4;
inline constexpr std::size_t round_length = 100;  // requests that a server gets, all clients together

enum class act : std::uint8_t { cancel_by_id, cancel_by_key, deadline, reset, finish, abort };
enum class wait_for : std::uint8_t { sleep, an_event, asio_timer, room, function };
enum class last_act : std::uint8_t { drain, short_drain, stop };

/// How a connection has ended, as its handler was told.
enum class ending_of : std::uint8_t { unknown, in_order, reset, aborted, stopped };

template <class E>
unsigned bit(E value) {
  return 1U << static_cast<unsigned>(value);
}

inline ending_of ending_for(const error_code& why) {
  if (!why || why == errc::end_of_stream) return ending_of::in_order;
  if (why == errc::aborted) return ending_of::aborted;
  if (why == errc::stopped) return ending_of::stopped;
  return why.category() == boost::system::system_category() ? ending_of::reset : ending_of::unknown;
}

struct life {
  unsigned caused = 0;  ///< bits of ending_of; 0: its client has not learned that this life is its own
  error_code why;
  std::atomic<int> ended{0};
  void end(const error_code& reason) {
    why = reason;
    ++ended;
  }
};

struct request {
  // Set by its client before it is sent.
  wait_for how = wait_for::sleep;
  cancel_reasons cancels;
  duration deadline = std::chrono::hours(24);
  unsigned caused = 0;  ///< bits of the reasons that may be reported; 0: it hears nothing
  bool was_sent = false, may_be_lost = false;
  std::atomic<bool> released{false};  ///< one that hears nothing may end
  // Set by its handler, which is entered once.
  life* of = nullptr;
  connection_id id;
  cancel_key key{};
  std::atomic<int> begun{0}, ended{0};
  cancel_reason early = cancel_reason::none, why = cancel_reason::none;

  void begin(connection& c, life& l) {
    early = c.cancelled().why();
    c.cancel_on(cancels);
    of = &l;
    id = c.id();
    key = c.make_cancel_key();
    ++begun;
  }
  void end(cancel_reason reason) {
    why = reason;
    ++ended;
  }
};

/// The requests of one server, and what has become of them.
struct storm {
  explicit storm(combination c) : of(c) {}
  const combination of;
  std::array<request, round_length> requests;

  [[nodiscard]] bool hears() const { return of.is_coroutine() || of.is_pooled(); }
  request& at(bytes line) {
    std::size_t number = round_length;
    std::from_chars(line.data(), line.data() + line.size(), number);
    return requests.at(number);
  }
  life& begin_life() {
    const std::lock_guard lock(mutex);
    return lives.emplace_back();
  }
  void report(std::size_t number, const std::string& what) {
    const std::lock_guard lock(mutex);
    wrong.push_back("request " + std::to_string(number) + ": " + what);
  }
  std::mutex mutex;
  std::deque<life> lives;          // guarded by mutex
  std::vector<std::string> wrong;  // guarded by mutex
};

}  // namespace quintet::test
