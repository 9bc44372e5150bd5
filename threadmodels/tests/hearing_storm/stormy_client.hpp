// SPDX-License-Identifier: BSL-1.0
// stormy_client: sends requests one by one, and does to each what the storm may bring.
#pragma once

#include "client.hpp"
#include "storm.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/server.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <latch>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

namespace quintet::test {

using acts = std::vector<act>;

class stormy_client {
 public:
  stormy_client(storm& in, server& to, unsigned number, std::uint64_t seed)
      : in_(in), server_(to), number_(number), random_(seed * clients + number) {}

  void run(last_act last, std::latch& ready, const std::latch& begun) {
    std::size_t next = number_;
    try {
      for (; next + clients < round_length; next += clients) one(next);
    } catch (const std::exception& e) {
      in_.report(next, e.what());
    }
    end(next, last, ready, begun);
  }

 private:
  [[nodiscard]] unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  [[nodiscard]] act any_act() {
    constexpr std::array all{act::cancel_by_id, act::cancel_by_key, act::reset, act::finish, act::abort, act::deadline};
    return all.at(below(in_.of.is_coroutine() ? 6 : 5));
  }
  [[nodiscard]] wait_for any_wait() {
    constexpr std::array all{wait_for::sleep, wait_for::an_event, wait_for::asio_timer, wait_for::room,
                             wait_for::function};
    return all.at(below(in_.of.is_pooled() ? 5 : 4));
  }
  static void await(const std::atomic<int>& count, const char* what) {
    if (!eventually([&] { return count > 0; })) throw std::runtime_error(what);
  }
  request& send(std::size_t number, const acts& planned, bool asks_for_drain);
  void await_begun(const request& r);
  void one(std::size_t number);
  void end(std::size_t number, last_act last, std::latch& ready, const std::latch& begun);
  void perform(act what);
  void settle(std::size_t number, request& r, const acts& performed);

  storm& in_;
  server& server_;
  const unsigned number_;
  std::mt19937_64 random_;
  std::optional<client> connection_;
  life* life_ = nullptr;  // of the connection, once one of its requests has begun
  connection_id id_;
  cancel_key key_{};
  bool carries_cancel_ = false;  // a cancel may reach the next request
};

}  // namespace quintet::test
