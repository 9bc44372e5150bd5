// SPDX-License-Identifier: BSL-1.0
// load: clients of a frame echo. They check every reply, count lost connections, and connect again.
#pragma once

#include <quintet/base/build/sanitizers.hpp>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace quintet::test {

struct load_options {
  std::size_t connections = 20;
  std::size_t largest = 20'000;  ///< largest message, in bytes
  int receive_buffer = 0;        ///< SO_RCVBUF of each socket, which also reads slowly; 0: the system default
  unsigned exchanges = 5;        ///< after so many exchanges a connection closes, and another one begins
  std::uint64_t seed = 1;
};

struct load_result {
  std::uint64_t replies = 0, lost = 0, corrupt = 0, stalls = 0;
  std::vector<std::uint16_t> lost_ports;  ///< client ports of the lost connections
};

/// A connection that makes no progress for this long has stalled.
inline constexpr std::chrono::seconds longest_wait{sanitized ? 20 : 5};

/// Runs on one thread, in turns.
class load {
 public:
  load(std::uint16_t port, const load_options& options);
  ~load();
  load(const load&) = delete;
  load& operator=(const load&) = delete;

  /// Sends, receives and checks for some milliseconds.
  void turn();
  /// Sends no new requests, and waits for the outstanding replies.
  void finish();
  [[nodiscard]] const load_result& result() const noexcept { return result_; }

 private:
  struct link {
    int fd = -1;
    std::string request;
    std::size_t sent = 0, received = 0;
    unsigned exchanges = 0;
    std::uint16_t port = 0;
    std::chrono::steady_clock::time_point progress{};

    [[nodiscard]] bool idle() const noexcept { return received == request.size(); }
  };

  void open(link& l);
  void close(link& l) noexcept;
  void ask(link& l);
  void lose(link& l);
  void send(link& l);
  void receive(link& l);
  void serve(link& l, short events);
  [[nodiscard]] std::string message();

  const std::uint16_t port_;
  const load_options options_;
  load_result result_;
  std::mt19937_64 random_;
  std::vector<link> links_;
  bool finishing_ = false;
};

}  // namespace quintet::test
