// SPDX-License-Identifier: BSL-1.0
// listener: accepts on a loop and passes each handle to a function; pauses when the system lacks a resource.
#pragma once

#include "../../base/log.hpp"
#include "../loop/event_loop.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace quintet {

/// `on_accept` owns the handle that it gets. If it throws, the listener closes the handle and continues to accept.
class listener final : private loop_member, private accept_channel, private timer {
 public:
  using accept_channel::properties;
  using accept_function = std::function<void(int handle)>;

  /// Binds and listens at once. Throws as socket_services::listen(), for example if the port is in use. The loop and
  /// the hook must outlive the listener. `shared`: listeners on other loops have descriptors of the same socket.
  /// `limited`: on_accept may call hold().
  listener(event_loop& loop, const listen_options& options, accept_function on_accept, const log_hook& log = no_log,
           properties how = {});
  ~listener();

  /// [before run] Says that this listener has a descriptor of another one's socket, which the last of them shuts down.
  void share_socket_of(const listener& other) noexcept;
  /// [before run] Sets SO_BUSY_POLL for accepted IP connections, unless it is 0. Logs a refusal.
  void set_busy_poll(std::chrono::microseconds longest) noexcept;
  /// [before run] Sets a function that the loop calls when accepting fails. It returns true to try again at once,
  /// without a pause. It must not throw.
  void set_error_handler(std::function<bool(error_code)> handler) { error_handler_ = std::move(handler); }
  /// [loop], or [before run] Begins to accept. The socket closes when the loop stops. Throws
  /// boost::system::system_error.
  void start();
  /// [loop] Closes the socket. The kernel resets connections in the backlog.
  void close() noexcept { abort(); }
  /// [loop] Accepts the connections in the backlog, until hold() or an error, and closes the socket. If others come
  /// meanwhile, it accepts about as many as had waited.
  void accept_waiting_and_close() noexcept;
  /// [loop] Stops (true) or resumes accepting. Meanwhile new connections wait in the backlog.
  void hold(bool on) noexcept;

  /// [before run] Returns the listening socket; the listener keeps ownership.
  [[nodiscard]] int handle() const noexcept { return listening_; }
  /// [any thread] Returns the address, with the port that was bound, also after closing.
  [[nodiscard]] const address& at() const noexcept { return at_; }
  /// [any thread] Return the number of accepted connections, and of errors: failed accepts and exceptions of on_accept.
  [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_.value(); }
  [[nodiscard]] std::uint64_t errors() const noexcept { return errors_.value(); }

 private:
  static inline const log_hook no_log{};
  void on_accepted(int handle) noexcept override;
  void on_accept_error(error_code reason) noexcept override;
  void expired() noexcept override;
  void abort() noexcept override;
  void update() noexcept;
  void pause_after(error_code reason) noexcept;
  void stop_listening() noexcept;
  bool accept_one() noexcept;
  [[nodiscard]] int most_at_close() const noexcept;
  [[nodiscard]] bool is_accepting() const noexcept { return started_ && !held_ && !pending(); }

  event_loop& loop_;
  accept_function on_accept_;
  std::function<bool(error_code)> error_handler_;
  const socket_options socket_;  // of each connection
  // Number of listeners with descriptors of the socket. Null: another process has made it, and may accept from it.
  std::shared_ptr<std::atomic<int>> holders_;
  int listening_;          // -1: closed
  const int caller_copy_;  // listening_ in the creator's descriptor table, with own_descriptors; else -1
  const int max_waiting_;  // maximum length of the backlog
  const address at_;
  const std::string name_;  // for the log
  const log_hook& log_;
  bool is_failing_ = false;  // the last accept failed; logged
  bool started_ = false, held_ = false;
  counter accepted_, errors_;
};

}  // namespace quintet
