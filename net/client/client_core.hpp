// SPDX-License-Identifier: BSL-1.0
// client_core: the part of a client that does not depend on the types of its model and handler.
#pragma once

#include "../connection/connection_host.hpp"
#include "../loop/event_loop.hpp"
#include "../loop/thread_model.hpp"
#include "client_link.hpp"
#include "client_statistics.hpp"

#include <memory>
#include <thread>

namespace quintet {

class client_core;
class session_link;

namespace detail {

/// Makes the links of a client. Knows the handler's type.
class link_source {
 public:
  virtual ~link_source() = default;
  /// [any thread] May throw.
  virtual std::unique_ptr<client_link> make(client_core& client, destination to) = 0;
};

}  // namespace detail

/// The base of basic_client, which knows how to make the links. Users see its public functions as a client's.
class client_core {
 public:
  client_core(const client_core&) = delete;
  client_core& operator=(const client_core&) = delete;
  /// [any thread] Stops the client, and waits for the thread of run_in_background(). Not on a thread of the client, nor
  /// during run(), nor while another thread uses the client.
  virtual ~client_core() { shut_down(); }

  /// [any thread] Serves the client's connections until stop(). On return all connections are closed and all threads
  /// have ended. A client runs once: a second call of run() or run_in_background() throws std::logic_error.
  void run();
  /// [any thread] Calls run() on a new thread, which the destructor joins. Returns when the model has started.
  /// Exceptions of the model's or the engine's start reach the caller.
  void run_in_background();
  /// Waits for the thread of run_in_background(), which ends after stop() or drain(). Returns at once if there is none.
  /// Not from a thread of the client.
  void join() {
    if (background_.joinable()) background_.join();
  }
  /// [any thread] Makes run() close all connections and return. May be called before run(), which then returns soon.
  void stop() noexcept { main_.stop(); }
  /// [any thread] Drains the client, as basic_server::drain() does. Attempts end with errc::stopped, and no attempt
  /// begins. Each connection answers the input that the kernel has received by now, calls on_drain, sends its output,
  /// and closes. In a coroutine read() returns nullopt, and draining() is true. run() returns when the last connection
  /// is closed. After `within` the client closes the rest as stop() does. Only the first call counts. stop() may
  /// follow. Throws std::bad_alloc.
  void drain(duration within) {
    main_.post([this, within]() noexcept { links_.drain(within); });
  }

  /// [any thread] Begins a link: connects once the client runs. The result is reported to the handler's on_open or to
  /// on_connect_failed. Throws std::bad_alloc.
  link_id connect(destination to) { return links_.start(source_->make(*this, std::move(to))); }
  /// [any thread] Ends a link. An attempt is cancelled; a connection closes as by connection_registry::close(). No
  /// attempt follows. Harmless when the link has ended. Throws std::bad_alloc.
  void disconnect(link_id which) { links_.disconnect(which); }

  /// [any thread] Returns the number of links that connect() has begun and that have not ended.
  [[nodiscard]] std::size_t links() const noexcept { return links_.size(); }
  [[nodiscard]] event_loop& main_loop() noexcept { return main_; }
  /// [any thread] Returns the registry of the client's connections: send, close or post to them by id.
  [[nodiscard]] connection_registry& connections() noexcept { return host_.registry; }
  /// [any thread] Returns the counters of the client and its loops. See model() for the model's own figures.
  [[nodiscard]] client_statistics statistics() const;

  /// [any thread] Returns the threading model.
  [[nodiscard]] const model_interface& model() const noexcept { return *model_; }

  /// run() in three parts, for a client whose main loop is driven by hand: start(), main_loop().poll() until stop() has
  /// been called and main_loop().finished(), finish().
  void start();
  void finish();

 protected:
  /// Throws config_error.
  client_core(client_options options, std::unique_ptr<model_interface> model,
              std::unique_ptr<detail::link_source> links);

 private:
  friend class session_link;

  void run_once();
  void shut_down();
  [[nodiscard]] bool keeps_handlers() const noexcept { return options_.reconnect && options_.reconnect->keep_handler; }

  client_options options_;
  connection_host host_;  // before the loops: connections on them use it
  const std::unique_ptr<model_interface> model_;
  const std::unique_ptr<detail::link_source> source_;
  mutable event_loop main_;  // counters() is the loop's own, non-const accessor
  client_links links_;
  std::thread background_;
  bool has_run_ = false;
  bool started_ = false;  // between start() and finish()
};

}  // namespace quintet
