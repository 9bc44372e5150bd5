// SPDX-License-Identifier: BSL-1.0
// blocking_engine: one connection whose thread sits in recv and send themselves; no epoll set, no eventfd.
#pragma once

#include "embedding.hpp"
#include "socket_engine.hpp"

#include <atomic>
#include <bit>
#include <csignal>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <span>

#include <pthread.h>

namespace quintet {

class shared_signal;

/// Holds at most one stream, and waits for it by a blocking recv. A signal (SIGURG, whose default is to be ignored)
/// ends a recv or send for wake(). A signal that arrives between the decision to call recv and the call itself would
/// be lost, so its handler also gives the socket the shortest receive and send time-out, which a call that has not
/// begun yet will meet. A wake that is under way when the call ends by itself is awaited before anything else runs:
/// no system call of a handler is ever interrupted by it.
class blocking_engine final : public socket_engine, private engine_embedding {
 public:
  static constexpr int wake_signal = SIGURG;

  blocking_engine();
  blocking_engine(const blocking_engine&) = delete;
  blocking_engine& operator=(const blocking_engine&) = delete;

  bool poll(duration longest) override;
  void wake() noexcept override;
  /// Streams only: a connector waits in the guest.
  error_code add(channel& c, int handle) override;
  void remove(channel& c) noexcept override;
  void set_reading(channel&, bool on) noexcept override { slow_path_.paused = !on; }
  send_result send(stream_channel& c, output_pieces pieces) noexcept override;
  send_result send(stream_channel& c, bytes data) noexcept override;

 private:
  enum class state : int { running, parked, in_call, woken };

  /// The stream's handle, which the guest watches while it waits for something else.
  [[nodiscard]] int descriptor() noexcept override { return stream_ && !slow_path_.paused ? stream_->handle() : -1; }
  static bool on_signal(void* target, siginfo_t& info, void* context) noexcept;
  static bool become_reachable() noexcept;
  bool begin_to_wait(const stream_channel& c) noexcept;
  bool enter_call() noexcept;
  bool leave_call() noexcept;
  bool take_slow_path(duration longest);
  bool receive(duration longest);
  ssize_t receive_into(std::span<char> place, duration longest) noexcept;
  bool nothing_received(ssize_t result);
  [[nodiscard]] bool suits(duration longest) const noexcept;
  bool park(duration longest) noexcept;
  void limit_send(duration longest) noexcept;
  void set_timeout(int option, duration to) noexcept;

  /// Why poll() does not simply receive: one comparison for both.
  struct slow_path_reasons {
    bool send_again = false, paused = false;
    [[nodiscard]] bool none() const noexcept { return std::bit_cast<std::uint16_t>(*this) == 0; }
  };

  static shared_signal wakes;
  stream_channel* stream_ = nullptr;
  slow_path_reasons slow_path_;
  duration receive_timeout_ = forever, send_timeout_ = forever;
  std::unique_ptr<char[]> received_;
  std::atomic<state> state_{state::running};
  std::atomic<bool> delivered_{false};  // the signal of the wake under way has arrived
  std::atomic<int> handle_{-1};         // of stream_, for the signal handler
  std::binary_semaphore parked_{0};
  pthread_t thread_{};
};

}  // namespace quintet
