// SPDX-License-Identifier: BSL-1.0
// listener: accepts on a loop and hands each handle to a function; pauses when the system has run out of something.
#pragma once

#include "../../base/log.hpp"
#include "../loop/event_loop.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace quintet {

/// The function gets a handle that it then owns. When it throws, the handle is closed and accepting goes on.
class listener final : private loop_member, private accept_channel, private timer {
 public:
  using accept_function = std::function<void(int handle)>;

  /// Binds and listens at once, so that a port in use is known here; throws what socket_services::listen does. The hook
  /// has to outlive it. `shared`: listeners on other loops have descriptors of the same socket.
  listener(event_loop& loop, const listen_options& options, accept_function on_accept, const log_hook& log = no_log,
           bool shared = false);
  ~listener();

  /// [before run] SO_BUSY_POLL for the connections that come, unless it is 0; a refusal is told to the log.
  void set_busy_poll(std::chrono::microseconds longest) noexcept;
  /// [before run] Asked when accept meets an error, on the loop: true, to try again at once and not after a pause. It
  /// must not throw.
  void set_rescue(std::function<bool(error_code)> helps) { rescue_ = std::move(helps); }
  /// [loop], or [before run] Begins to accept. Ends, and listens no more, when the loop stops.
  void start();
  /// [loop] Listens no more. Who waits to be accepted is reset.
  void close() noexcept { abort(); }
  /// [loop] Accepts the connections that wait already, while it is not held, and listens no more.
  void accept_waiting_and_close() noexcept;
  /// [loop] While it is held it accepts nothing: who comes waits in the backlog.
  void hold(bool on) noexcept;

  /// [before run]
  [[nodiscard]] int handle() const noexcept { return listening_; }
  /// [any thread] Where it listens, or did, with the port that the system has picked.
  [[nodiscard]] const address& at() const noexcept { return at_; }
  /// [any thread] Connections accepted, and errors met: of accept itself, and exceptions of the function.
  [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_.value(); }
  [[nodiscard]] std::uint64_t errors() const noexcept { return errors_.value(); }

 private:
  static inline const log_hook no_log{};
  void on_accepted(int handle) noexcept override;
  void on_accept_error(error_code reason) noexcept override;
  void expired() noexcept override;
  void abort() noexcept override;
  void update() noexcept;
  bool accept_one() noexcept;
  [[nodiscard]] bool is_accepting() const noexcept { return started_ && !held_ && !pending(); }

  event_loop& loop_;
  accept_function on_accept_;
  std::function<bool(error_code)> rescue_;
  const socket_options socket_;  // of each connection
  int listening_;                // -1: closed
  const int copy_;  // of listening_, in the table of who made it, where the loop has a table of its own; else -1
  const int most_waiting_;  // connections that can wait to be accepted
  const address at_;
  const std::string name_;  // for the log
  const log_hook& log_;
  bool troubled_ = false;  // and the log has been told
  bool started_ = false, held_ = false;
  counter accepted_, errors_;
};

}  // namespace quintet
