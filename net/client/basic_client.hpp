// SPDX-License-Identifier: BSL-1.0
// basic_client: makes a client of any thread model and any handler. Neither is part of its type.
#pragma once

#include "../connection/session.hpp"
#include "../loop/thread_model.hpp"
#include "session_link.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace quintet {

/// Adds to client_core the constructor, which knows the types of the model and the handler.
class basic_client : public client_core {
 public:
  /// Throws config_error.
  template <thread_model Model, class Handler>
  basic_client(client_options options, Model model, Handler h)
      : basic_client(std::move(options), std::make_unique<model_adapter<Model>>(std::move(model)), std::move(h)) {}

 protected:
  /// The same of a model whose type is not known.
  template <class Handler>
  basic_client(client_options options, std::unique_ptr<model_interface> model, Handler h)
      : client_core(std::move(options), std::move(model),
                    std::make_unique<links_of<detail::checked_handler<Handler>>>(std::move(h))) {}

 private:
  template <handler_or_factory Handler>
  class links_of final : public detail::link_source {
   public:
    explicit links_of(Handler h) : handlers_{std::move(h)} {}
    std::unique_ptr<client_link> make(client_core& client, destination to) override {
      return std::make_unique<link>(client, handlers_, std::move(to));
    }

   private:
    using source = detail::handler_source<Handler>;
    using handler_type = typename source::type;
    using session = detail::session_for<handler_type>;

    class link final : public session_link {
     public:
      link(client_core& client, source& handlers, destination to)
          : session_link(client, std::move(to)), handlers_(handlers) {}

     private:
      session_ptr make_session(event_loop& on, connection_host& host, const stream_handle& stream) override {
        return session::make(manager(), on, host, next_handler(on.io(), stream.get()));
      }
      void keep_handler_of(detail::connection_core& ended) override {
        kept_.emplace(std::move(session::handler_of(ended)));
      }
      handler_type next_handler(engine& io, int handle) {
        if (!kept_) return handlers_.make(io, handle);
        handler_type last = std::move(*kept_);
        kept_.reset();
        return last;
      }

      source& handlers_;
      std::optional<handler_type> kept_;  // of the last connection; touched by the loop that has the link
    };

    source handlers_;
  };
};

}  // namespace quintet
