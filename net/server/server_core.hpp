// SPDX-License-Identifier: BSL-1.0
// server_core: the part of a server that does not depend on the types of its model and its handler.
#pragma once

#include "../connection/connection_host.hpp"
#include "../connection/session_manager.hpp"
#include "../loop/event_loop.hpp"
#include "../options/server_options.hpp"
#include "server_statistics.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace quintet {

class acceptor_group;
class connection_limiter;
class connection_permit;
class drain_tracker;
class priority_loop;
class rebalancer;

namespace detail {

class attachment;
class attached_manager;

}  // namespace detail

/// The base of basic_server, which knows how to make the sessions. Users see its public functions as a server's.
class server_core : protected detail::session_manager {
 public:
  server_core(const server_core&) = delete;
  server_core& operator=(const server_core&) = delete;
  /// [any thread] Stops what run_in_background() has begun. Must not run on a thread of the server, while run() is in
  /// progress, or while another thread uses the server. First runs the functions that were posted to the main loop.
  virtual ~server_core();

  /// Serves until stop(). When run() returns, every connection has been closed and every thread has ended. A server
  /// runs once, because its listeners close: a second call of run() or run_in_background() throws std::logic_error.
  void run();
  /// [any thread] Calls run() on a new thread, which the destructor joins. Returns when every loop serves. Exceptions
  /// of the model's or the engine's start reach the caller.
  void run_in_background();
  /// Waits for the thread of run_in_background(), which ends after stop() or drain(). Returns at once if there is none.
  /// Not from a thread of the server.
  void join();
  /// [any thread] Closes every connection at once. May be called before run(), which then returns soon.
  void stop() noexcept { main_.stop(); }
  /// [any thread] Stops in good order. The server closes its listeners, and answers what the kernel has received from
  /// each client by now. It calls on_drain (a coroutine: read() returns nullopt, and draining() is true), sends the
  /// output, and closes. Input that a client sends later gets no answer, and no handler sees it. run() returns when the
  /// last connection has closed. After `within` the server closes the rest as stop() does. The first call counts.
  /// stop() may follow at any time. Without memory to drain, the server stops at once.
  void drain(duration within) noexcept;
  /// [any thread] Closes the listeners. Open connections continue. Without memory for that, stops the server.
  void stop_listening() noexcept;

  /// [any thread] Returns the accept strategy in use. It differs from the option if that strategy is not available.
  [[nodiscard]] accept_strategy accept() const noexcept;
  /// [any thread] Returns the addresses of the listeners, in the order of the options, with the ports that were bound.
  [[nodiscard]] const std::vector<address>& addresses() const noexcept { return addresses_; }
  /// [any thread] Return the first port of the ordinary listeners, and of the priority listeners; 0 if there is none.
  [[nodiscard]] std::uint16_t port() const noexcept { return first_port(false); }
  [[nodiscard]] std::uint16_t priority_port() const noexcept { return first_port(true); }
  [[nodiscard]] event_loop& main_loop() noexcept { return main_; }
  /// [any thread] Returns the loops among which connections may move (connection::move_to), in the model's order. Empty
  /// if the model has one loop for all connections, or one for each.
  [[nodiscard]] const std::vector<event_loop*>& loops() const noexcept { return host_.loops; }
  /// [any thread] Returns the registry of the server's connections: sends, closes and posts by id.
  [[nodiscard]] connection_registry& connections() noexcept { return host_.registry; }
  /// [any thread] Returns counters of the server and its loops. A model has figures of its own: see model().
  [[nodiscard]] server_statistics statistics() const;
  /// [any thread] Returns the threading model.
  [[nodiscard]] const model_interface& model() const noexcept { return model_; }
  /// [any thread] Calls f for the counters of each loop: the main loop's, the model's loops', the priority loop's.
  void each_counters(const std::function<void(const loop_counters&)>& f) const;

  /// run() in three parts, for a server whose main loop is driven by hand: start(), main_loop().poll() until stop() has
  /// been called and main_loop().finished(), finish().
  void start();
  void finish();

 protected:
  /// Binds and listens at once. Throws config_error, or boost::system::system_error (a port in use).
  server_core(server_options options, std::unique_ptr<model_interface> model,
              std::unique_ptr<detail::session_source> sessions);
  /// Stops what run_in_background() has begun. The destructors of derived classes call it first: connections call
  /// virtual functions of this object, and must not do so while it changes its type.
  void end_background() noexcept;
  /// [any thread] See basic_server::attach().
  void attach_connection(event_loop* near, stream_handle&& stream, std::shared_ptr<detail::attachment> what);

 private:
  friend class detail::attached_manager;

  // Calls from sessions.
  [[nodiscard]] bool runs_here(const event_loop& loop) const noexcept final;
  [[nodiscard]] bool can_migrate() const noexcept final { return true; }
  void retire(detail::connection_core& ended, destroy_function destroy) noexcept final;
  void discard(detail::connection_core& migrated, destroy_function destroy) noexcept final;
  detail::connection_core* migrate(detail::connection_core& from, event_loop& to, migrate_function make) noexcept final;
  detail::connection_core* migrate_to_priority_loop(detail::connection_core& from, migrate_function make) noexcept;

  // Accepting.
  void accepted(event_loop& at, stream_handle&& stream, connection_permit permit);
  void open_session(event_loop& on, stream_handle stream, connection_permit permit) noexcept;
  error_code try_open_session(event_loop& on, stream_handle&& stream, connection_permit permit) noexcept;
  session_ptr make_session_on(event_loop& on, const stream_handle& stream);
  [[nodiscard]] bool is_preferred(event_loop& at, const stream_handle& stream) const;
  bool transfer_to_priority_loop(stream_handle&& stream);
  [[nodiscard]] bool is_priority(const event_loop& loop) const noexcept;
  [[nodiscard]] connection_limiter& limiter_of(const event_loop& loop) noexcept;
  void release(event_loop& loop) noexcept;

  // Starting and ending.
  [[nodiscard]] bool wants_priority_loop() const noexcept;
  void make_priority_loop();
  void begin_to_rebalance();
  address listen_for_priority(const listen_options& options);
  [[nodiscard]] std::uint16_t first_port(bool priority) const noexcept;
  void run_once();
  void shut_down();
  [[nodiscard]] bool close_listeners() noexcept;
  void begin_to_drain(duration within) noexcept;
  bool run_left_over() noexcept;

  server_options options_;
  connection_host host_;                      // declared before the loops, so that it outlives their connections
  std::atomic<std::uint64_t> not_opened_{0};  // accepted connections that the system had no resources to serve
  std::unique_ptr<stall_watchdog> watchdog_;
  const std::unique_ptr<detail::session_source> sessions_;
  const std::unique_ptr<connection_limiter> limiter_;
  const std::unique_ptr<model_interface> owned_model_;
  mutable event_loop main_;  // counters() is the loop's own, non-const accessor
  const std::unique_ptr<drain_tracker> drain_tracker_;
  const std::unique_ptr<acceptor_group> acceptors_;
  std::unique_ptr<rebalancer> rebalancer_;
  std::unique_ptr<priority_loop> priority_;
  std::vector<address> addresses_;
  std::thread background_;
  bool has_run_ = false;
  bool started_ = false;  // and not finished
};

}  // namespace quintet
