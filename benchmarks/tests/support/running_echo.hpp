// SPDX-License-Identifier: BSL-1.0
// running_echo.hpp: an echo server on a thread of its own, for the length of a test.
#pragma once

#include <cstdint>
#include <thread>

namespace quintet::bench {

template <class Echo>
class running_echo {
 public:
  running_echo() : echo_("127.0.0.1", 0), thread_([this] { echo_.run(); }) {}
  ~running_echo() { echo_.stop(); }
  std::uint16_t port() const { return echo_.port(); }

 private:
  Echo echo_;
  std::jthread thread_;
};

}  // namespace quintet::bench
