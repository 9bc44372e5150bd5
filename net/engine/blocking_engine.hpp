// SPDX-License-Identifier: BSL-1.0
// blocking_engine: one connection whose thread blocks in recv and send; no epoll set, no eventfd.
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

/// Holds at most one stream, and waits for it by a blocking recv. wake() ends a recv or send by a signal (SIGURG, which
/// is ignored by default). A signal just before the call would be lost, so its handler also sets the socket's shortest
/// receive and send time-outs. A call that begins afterwards then ends at once. If a call ends by itself while wake()
/// is in progress, the engine awaits the signal first. So the signal never interrupts a system call of the
/// application's handlers. Thread tags as in engine.
class blocking_engine final : public socket_engine, private engine_embedding {
 public:
  static constexpr int wake_signal = SIGURG;

  /// Throws std::system_error if the process has no thread-specific data left.
  blocking_engine();
  blocking_engine(const blocking_engine&) = delete;
  blocking_engine& operator=(const blocking_engine&) = delete;

  bool poll(duration longest) override;
  void wake() noexcept override;
  /// Accepts streams only: a connector waits in the loop's guest.
  error_code add(channel& c, stream_handle&& stream) override;
  stream_handle remove(channel& c) noexcept override;
  error_code set_reading(channel&, bool on) noexcept override {
    slow_path_.paused = !on;
    hears_end_ = true;
    return {};
  }
  send_result send(stream_channel& c, output_pieces pieces) noexcept override;
  send_result send(stream_channel& c, bytes data) noexcept override;

 private:
  enum class state : int { running, parked, in_call, woken };

  /// Returns the stream's handle for the guest to watch, or -1 if reading is stopped.
  [[nodiscard]] int descriptor() noexcept override { return stream_ && !slow_path_.paused ? stream_->handle() : -1; }
  static bool on_signal(void* target, siginfo_t& info, void* context) noexcept;
  static bool register_for_wakes() noexcept;
  bool begin_to_wait(const stream_channel& c) noexcept;
  bool enter_call() noexcept;
  bool leave_call() noexcept;
  bool take_slow_path(duration longest);
  bool receive(duration longest, bool guarded);
  ssize_t receive_into(std::span<char> place, duration longest, bool guarded) noexcept;
  bool nothing_received(ssize_t result);
  [[nodiscard]] bool timeout_fits(duration longest) const noexcept;
  void set_receive_timeout(duration longest) noexcept;
  bool wait_for_end(duration longest) noexcept;
  bool park(duration longest) noexcept;
  void limit_send(duration longest) noexcept;
  void set_timeout(int option, duration to) noexcept;

  /// The reasons for poll() to do more than receive, tested by one comparison.
  struct slow_path_reasons {
    bool send_again = false, paused = false;
    bool guarded = false;  ///< descriptors can arrive, see passed_descriptors
    bool unused = false;
    [[nodiscard]] bool none() const noexcept { return std::bit_cast<std::uint32_t>(*this) == 0; }
  };

  static shared_signal wakes;
  stream_channel* stream_ = nullptr;
  slow_path_reasons slow_path_;
  bool hears_end_ = true;  // the peer's end was not told yet
  duration receive_timeout_ = forever, send_timeout_ = forever;
  std::unique_ptr<char[]> received_;
  std::atomic<state> state_{state::running};
  std::atomic<bool> delivered_{false};  // the signal of the wake in progress has arrived
  std::atomic<int> handle_{-1};         // of stream_, for the signal handler
  std::binary_semaphore parked_{0};
  pthread_t thread_{};
};

}  // namespace quintet
