// SPDX-License-Identifier: BSL-1.0
// basic_server: a server whose threading model and handler are types.
#pragma once

#include "../connection/session.hpp"
#include "../connection/session_owner.hpp"
#include "../loop/thread_model.hpp"
#include "server_core.hpp"

#include <concepts>
#include <memory>
#include <utility>

namespace quintet {

/// A server whose threading model is a type. `quintet::server` is the same with the model chosen at run time. This
/// class adds to server_core the functions that depend on a type.
template <thread_model Model, handler_or_factory Handler>
class basic_server : public server_core {
 public:
  /// Binds and listens at once. Throws config_error, or boost::system::system_error (a port in use).
  basic_server(server_options options, Model model, Handler handler)
      : server_core(std::move(options), storage::store(std::move(model)),
                    {.can_move = session::can_move, .has_classify = detail::has_classify<handler_type>}),
        source_{std::move(handler)} {}
  /// [any thread] Must not run on a thread of the server, while run() is in progress, or while another thread uses the
  /// server. First runs the functions that were posted to the main loop.
  ~basic_server() override { shut_down(); }

  /// [any thread] Makes a connection from a handle that the program has connected itself (net/connector.hpp). The
  /// server then owns the handle. The connection lives on the loop `near`. The model picks the loop if `near` is null,
  /// or if a loop serves only one connection (thread_per_connection). The connection has its own handler type. It
  /// shares ids, limits, draining and stopping with the server's others, but accept limits do not count it.
  ///
  /// If the connection cannot be made, refused(error_code) is called on a loop's thread. It must not throw.
  /// errc::stopped means that the loop has stopped. That call may come as late as the server's destructor. Throws
  /// std::bad_alloc; the caller then still owns the handle.
  template <handler H, std::invocable<error_code> F>
  void attach(event_loop* near, int handle, H h, F refused) {
    attach_connection(near, handle, std::make_shared<typed_attachment<H, F>>(std::move(h), std::move(refused)));
  }

  /// [any thread] Returns the threading model.
  [[nodiscard]] const auto& model() const noexcept { return storage::get(stored_model()); }

 private:
  using handler_type = typename detail::handler_source<Handler>::type;
  using session = detail::session_for<handler_type>;
  using storage = detail::model_storage<Model>;

  template <class H, class F>
  class typed_attachment final : public detail::attachment {
   public:
    typed_attachment(H h, F refused) : handler_(std::move(h)), refused_(std::move(refused)) {}

   private:
    session_ptr make(detail::session_owner& owner, event_loop& on, connection_host& host) override {
      return detail::session_for<H>::make(owner, on, host, std::move(handler_));
    }
    void refuse(error_code why) noexcept override { refused_(why); }
    H handler_;
    F refused_;
  };

  session_ptr make_session(event_loop& on, int handle) override {
    return session::make(owner(), on, host(), source_.make(on.io(), handle));
  }

  detail::handler_source<Handler> source_;
};

}  // namespace quintet
