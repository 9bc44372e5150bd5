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

/// Adds to server_core the functions that depend on the type of the model, and not on that of the handler.
template <thread_model Model>
class model_server : public server_core {
 public:
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

  /// [any thread] Returns the threading model.
  [[nodiscard]] const auto& model() const noexcept { return storage::get(stored_model()); }

 protected:
  model_server(server_options options, Model model, handler_facts handler)
      : server_core(std::move(options), storage::store(std::move(model)), handler) {}
  ~model_server() override = default;

 private:
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
};

namespace detail {

/// Makes the sessions of a server. `Base` is a model_server, or derived from one.
template <class Base, handler_or_factory Handler>
class handler_server : public Base {
 public:
  /// [any thread] Must not run on a thread of the server, while run() is in progress, or while another thread uses the
  /// server. First runs the functions that were posted to the main loop.
  ~handler_server() override { this->shut_down(); }

 protected:
  template <class Model>
  handler_server(server_options options, Model model, Handler handler)
      : Base(std::move(options), std::move(model),
             {.can_move = session::can_move, .has_classify = detail::has_classify<handler_type>}),
        source_{std::move(handler)} {}

 private:
  using handler_type = typename handler_source<Handler>::type;
  using session = session_for<handler_type>;

  session_owner::session_ptr make_session(event_loop& on, const stream_handle& stream) override {
    return session::make(this->owner(), on, this->host(), source_.make(on.io(), stream.get()));
  }

  handler_source<Handler> source_;
};

}  // namespace detail

/// A server whose threading model is a type. `quintet::server` is the same with the model chosen at run time.
template <thread_model Model, class Handler>
class basic_server : public detail::handler_server<model_server<Model>, detail::checked_handler<Handler>> {
 public:
  /// Binds and listens at once. Throws config_error, or boost::system::system_error (a port in use).
  basic_server(server_options options, Model model, Handler handler)
      : detail::handler_server<model_server<Model>, detail::checked_handler<Handler>>(
            std::move(options), std::move(model), std::move(handler)) {}
};

}  // namespace quintet
