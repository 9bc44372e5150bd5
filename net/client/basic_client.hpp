// SPDX-License-Identifier: BSL-1.0
// basic_client: a client whose threading model and handler are types.
#pragma once

#include "../connection/session.hpp"
#include "../loop/thread_model.hpp"
#include "session_link.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace quintet {

/// A client whose threading model is a type. `quintet::client` is the same with the model chosen at run time. Most
/// functions are those of client_core.
template <thread_model Model, handler_or_factory Handler>
class basic_client : public client_core {
 public:
  /// Throws config_error.
  basic_client(client_options options, Model model, Handler handler)
      : client_core(std::move(options), storage::store(std::move(model))), source_{std::move(handler)} {}
  /// [any thread] Stops the client, and waits for the thread of run_in_background(). Not on a thread of the client, nor
  /// during run(), nor while another thread uses the client.
  ~basic_client() override { shut_down(); }

  /// [any thread] Returns the model, or its interface where it has one.
  [[nodiscard]] const auto& model() const noexcept { return storage::get(stored_model()); }

 private:
  using source = detail::handler_source<Handler>;
  using handler_type = typename source::type;
  using storage = detail::model_storage<Model>;

  class link final : public session_link {
   public:
    link(basic_client& client, destination to) : session_link(client, std::move(to)), source_(client.source_) {}

   private:
    using session = detail::session_for<handler_type>;

    session_ptr make_session(event_loop& on, connection_host& host, const stream_handle& stream) override {
      return session::make(owner(), on, host, next_handler(on.io(), stream.get()));
    }
    void keep_handler_of(detail::connection_core& ended) override {
      kept_.emplace(std::move(session::handler_of(ended)));
    }
    handler_type next_handler(engine& io, int handle) {
      if (!kept_) return source_.make(io, handle);
      handler_type last = std::move(*kept_);
      kept_.reset();
      return last;
    }

    source& source_;
    std::optional<handler_type> kept_;  // of the last connection; touched by the loop that has the link
  };

  std::unique_ptr<client_link> make_link(destination to) override {
    return std::make_unique<link>(*this, std::move(to));
  }

  source source_;
};

}  // namespace quintet
