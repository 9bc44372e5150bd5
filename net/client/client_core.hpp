// SPDX-License-Identifier: BSL-1.0
// client_core: all of a client that does not depend on the type of its model or of its handler.
#pragma once

#include "../connection/connection_host.hpp"
#include "../loop/event_loop.hpp"
#include "../loop/model_interface.hpp"
#include "client_link.hpp"
#include "client_statistics.hpp"

#include <memory>
#include <thread>

namespace quintet {

class session_link;

/// The base of basic_client, which makes the links. Users see its public functions as a client's.
class client_core {
 public:
  client_core(const client_core&) = delete;
  client_core& operator=(const client_core&) = delete;

  /// Serves its connections until stop(). When run() returns, all connections have been closed and every thread has
  /// ended. Only the first call of run() or run_in_background() serves. A second call throws std::logic_error.
  void run();
  /// The same on a thread of its own, which the destructor joins. Throws what the model throws when it starts.
  void run_in_background();
  /// Waits for the thread of run_in_background(), which ends after stop() or drain(). Returns at once where there is no
  /// such thread. Not from a thread of the client.
  void join() {
    if (background_.joinable()) background_.join();
  }
  /// [any thread] Also before run(), which then returns soon.
  void stop() noexcept { main_.stop(); }
  /// [any thread] Stops in good order, as basic_server::drain() does. Attempts end with errc::stopped, and no attempt
  /// begins. Each connection answers what the kernel has received by now, calls on_drain (a coroutine: read() returns
  /// nullopt, and draining() is true), sends its output, and closes. run() returns when the last connection is gone.
  /// After `within` the client closes the rest as stop() does. The first call counts. stop() may follow.
  void drain(duration within) {
    main_.post([this, within]() noexcept { links_.drain(within); });
  }

  /// [any thread] Connects, once the client runs. The destination says what is allowed. The result is told to the
  /// handler's on_open, or to on_connect_failed.
  link_id connect(destination to) { return links_.start(make_link(std::move(to))); }
  /// [any thread] Ends a link. An attempt is cancelled; a connection closes as by connection_registry::close(). No
  /// attempt follows. Harmless when the link has ended.
  void disconnect(link_id which) { links_.disconnect(which); }

  /// [any thread] Links that have not ended: connect() begins one.
  [[nodiscard]] std::size_t links() const noexcept { return links_.size(); }
  [[nodiscard]] event_loop& main_loop() noexcept { return main_; }
  /// [any thread] The client's connections by id: to send to them, close them, post to them.
  [[nodiscard]] connection_registry& connections() noexcept { return host_.registry; }
  /// [any thread] Counters of the client and its loops. A model has counters of its own: see model().
  [[nodiscard]] client_statistics statistics() const;

  // run() in three parts, for a client whose main loop is driven by hand:
  // start(), main_loop().poll() until stop() has been called and main_loop().finished(), finish().
  void start();
  void finish();

 protected:
  /// Throws config_error.
  client_core(client_options options, std::unique_ptr<model_interface> model);
  ~client_core() = default;
  /// Stops, and ends everything that may use a link. A derived class calls it in its destructor.
  void shut_down();
  /// [any thread]
  virtual std::unique_ptr<client_link> make_link(destination to) = 0;

  [[nodiscard]] client_links& all_links() noexcept { return links_; }
  [[nodiscard]] const model_interface& stored_model() const noexcept { return *model_; }

 private:
  friend class session_link;

  void run_once();
  [[nodiscard]] bool keeps_handlers() const noexcept { return options_.reconnect && options_.reconnect->keep_handler; }

  client_options options_;
  connection_host host_;  // before the loops, which outlive the connections on them
  std::unique_ptr<model_interface> model_;
  mutable event_loop main_;  // counters() is the loop's own, non-const accessor
  client_links links_;
  std::thread background_;
  bool has_run_ = false;
  bool started_ = false;  // and not finished
};

}  // namespace quintet
