// SPDX-License-Identifier: BSL-1.0
// basic_server: makes a server of any thread model and any handler. Neither is part of its type.
#pragma once

#include "../connection/session.hpp"
#include "../connection/session_manager.hpp"
#include "../loop/thread_model.hpp"
#include "server_core.hpp"

#include <concepts>
#include <memory>
#include <utility>

namespace quintet {

/// Adds to server_core what depends on the types of the model and the handler: functions, and no type of its own.
class basic_server : public server_core {
 public:
  /// Binds and listens at once. Throws config_error, or boost::system::system_error (a port in use).
  template <thread_model Model, class Handler>
  basic_server(server_options options, Model model, Handler h)
      : basic_server(std::move(options), std::make_unique<model_adapter<Model>>(std::move(model)), std::move(h)) {}

  ~basic_server() override { end_background(); }

  /// [any thread] Makes a connection from a stream that the program has connected itself (net/connector.hpp). The
  /// server then owns it. A descriptor converts to a stream. The connection lives on the loop `near`. The model picks
  /// the loop if `near` is null, or if a loop serves only one connection (thread_per_connection). The connection has
  /// its own handler type. It shares ids, limits, draining and stopping with the server's others, but accept limits do
  /// not count it.
  ///
  /// If the connection cannot be made, refused(error_code) is called on a loop's thread. It must not throw.
  /// errc::stopped means that the loop has stopped. That call may come as late as the server's destructor. Throws
  /// std::bad_alloc; the caller then still owns the stream.
  template <handler H, std::invocable<error_code> F>
  void attach(event_loop* near, stream_handle&& stream, H h, F refused) {
    attach_connection(near, std::move(stream),
                      std::make_shared<typed_attachment<H, F>>(std::move(h), std::move(refused)));
  }

 protected:
  /// The same of a model whose type is not known.
  template <class Handler>
  basic_server(server_options options, std::unique_ptr<model_interface> model, Handler h)
      : server_core(std::move(options), std::move(model),
                    std::make_unique<source_of<detail::checked_handler<Handler>>>(std::move(h))) {}

 private:
  template <handler_or_factory Handler>
  class source_of final : public detail::session_source {
   public:
    explicit source_of(Handler h)
        : session_source(session::can_move, detail::has_classify<handler_type>), handlers_{std::move(h)} {}
    session_ptr make(detail::session_manager& manager, event_loop& on, connection_host& host,
                     const stream_handle& stream) override {
      return session::make(manager, on, host, handlers_.make(on.io(), stream));
    }

   private:
    using handler_type = typename detail::handler_source<Handler>::type;
    using session = detail::session_for<handler_type>;
    detail::handler_source<Handler> handlers_;
  };

  template <class H, class F>
  class typed_attachment final : public detail::attachment {
   public:
    typed_attachment(H h, F refused) : handler_(std::move(h)), refused_(std::move(refused)) {}

   private:
    session_ptr make(detail::session_manager& manager, event_loop& on, connection_host& host) override {
      return detail::session_for<H>::make(manager, on, host, std::move(handler_));
    }
    void refuse(error_code why) noexcept override { refused_(why); }
    H handler_;
    F refused_;
  };
};

}  // namespace quintet
