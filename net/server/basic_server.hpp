// SPDX-License-Identifier: BSL-1.0
// basic_server: a server whose threading model and handler are types.
#pragma once

#include "../connection/session.hpp"
#include "../loop/thread_model.hpp"
#include "../connection/session_owner.hpp"
#include "server_core.hpp"

#include <concepts>
#include <memory>
#include <utility>

namespace quintet {

/// A server whose threading model is a type. `quintet::server` is the same with the model chosen at run time. Its
/// functions are those of server_core, and what depends on a type.
template <thread_model Model, handler_or_factory Handler>
class basic_server : public server_core {
 public:
  /// Binds and listens at once. Throws config_error, or boost::system::system_error (a port in use).
  basic_server(server_options options, Model model, Handler handler)
      : server_core(std::move(options), storage::store(std::move(model)),
                    {.can_move = session::can_move, .has_classify = detail::has_classify<handler_type>}),
        source_{std::move(handler)} {}
  /// At any time, on any thread. Not on a thread of the server, nor while run() is in progress, nor while another
  /// thread uses the server. Functions that were posted to its main loop run before.
  ~basic_server() override { shut_down(); }

  /// [any thread] Makes a connection of a handle that the program has connected itself (net/connector.hpp). The server
  /// owns the handle from then on. The connection lives on the loop `near`, beside the connection that needs it. The
  /// model picks the loop where `near` is null, or where a loop serves one connection alone (thread_per_connection).
  /// The connection has a handler of its own kind. It shares all else with the server's others: ids, limits, draining
  /// and stopping; but accept limits do not count it. Where it cannot be made, refused(error_code) is called on a
  /// loop's thread, and must not throw. errc::stopped means that the loop has stopped; that may be as late as in the
  /// server's destructor. Throws std::bad_alloc; the handle is then still the caller's.
  template <handler H, std::invocable<error_code> F>
  void attach(event_loop* near, int handle, H h, F refused) {
    attach_connection(near, handle, std::make_shared<typed_attachment<H, F>>(std::move(h), std::move(refused)));
  }

  /// [any thread]
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
