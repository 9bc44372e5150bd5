// SPDX-License-Identifier: BSL-1.0
// blocking_engine: one connection whose thread sits in recv and send themselves; no epoll set, no eventfd.
#pragma once

#include "socket_engine.hpp"

#include <atomic>
#include <bit>
#include <csignal>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <span>

#include <pthread.h>
#include <sys/socket.h>

namespace quintet {

class shared_signal;

/// Holds at most one stream, and waits for it by a blocking recv. A signal (SIGURG, whose default is to be ignored)
/// ends a recv or send for wake(). A signal that arrives between the decision to call recv and the call itself would
/// be lost, so its handler also gives the socket the shortest receive and send time-out, which a call that has not
/// begun yet will meet. A wake that is under way when the call ends by itself is awaited before anything else runs:
/// no system call of a handler is ever interrupted by it.
class blocking_engine final : public socket_engine {
 public:
  static constexpr int wake_signal = SIGURG;

  blocking_engine();
  blocking_engine(const blocking_engine&) = delete;
  blocking_engine& operator=(const blocking_engine&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "blocking"; }
  [[nodiscard]] bool lets_go() const noexcept override { return true; }
  bool poll(duration longest) override;
  [[nodiscard]] bool waits_in_send() const noexcept override { return true; }
  [[nodiscard]] bool is_for_one_stream() const noexcept override { return true; }
  void wake() noexcept override;
  [[nodiscard]] int pollable() noexcept override { return stream_ && reading_ ? stream_->handle() : -1; }

  error_code add(stream_channel& c, int handle) override;
  error_code add(accept_channel&, int) override { return unsupported(); }
  error_code add(event_channel&, int) override { return unsupported(); }
  error_code add(connect_channel&, int) override { return unsupported(); }  // see connector
  void remove(channel& c) noexcept override;
  void set_reading(channel&, bool on) noexcept override { reading_ = on; }
  void receive_in_place(stream_channel&) noexcept override { detours_.in_place = true; }
  using engine::send;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override;
  void limit_send(duration longest) noexcept override { set_timeout(SO_SNDTIMEO, send_timeout_ = longest); }

 private:
  enum class state : int { running, parked, in_call, woken };

  static error_code unsupported() noexcept;
  static bool on_signal(void* target, siginfo_t& info, void* context) noexcept;
  static bool become_reachable() noexcept;
  bool enter_call() noexcept;
  bool leave_call() noexcept;
  bool take_detour(duration longest);
  bool receive(duration longest);
  ssize_t receive_into(std::span<char> place, duration longest) noexcept;
  bool nothing_received(ssize_t result);
  [[nodiscard]] bool suits(duration longest) const noexcept;
  void park(duration longest) noexcept;
  void set_timeout(int option, duration to) noexcept;

  /// What poll() has to look at before it receives: one comparison for both.
  struct detours {
    bool send_again = false, in_place = false;
    [[nodiscard]] bool none() const noexcept { return std::bit_cast<std::uint16_t>(*this) == 0; }
  };

  static shared_signal wakes;
  stream_channel* stream_ = nullptr;
  bool reading_ = false;
  detours detours_;
  duration receive_timeout_ = forever, send_timeout_ = forever;
  std::unique_ptr<char[]> received_;
  std::atomic<state> state_{state::running};
  std::atomic<bool> delivered_{false};  // the signal of the wake under way has arrived
  std::atomic<int> handle_{-1};         // of stream_, for the signal handler
  std::binary_semaphore parked_{0};
  pthread_t thread_{};
};

}  // namespace quintet
