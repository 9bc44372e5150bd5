// SPDX-License-Identifier: BSL-1.0
// session_link: a client's link that makes the sessions of its connections.
#pragma once

#include "../connection/session_manager.hpp"
#include "client_core.hpp"

namespace quintet {

/// A link that makes sessions and owns them, so that it is told of their end.
class session_link : public client_link, protected detail::session_manager {
 protected:
  session_link(client_core& client, destination to);

  /// [loop] Makes the session of a connection. May throw.
  virtual session_ptr make_session(event_loop& on, connection_host& host, const stream_handle& stream) = 0;
  /// [loop] Keeps the handler of an ended session for the next one. May throw.
  virtual void keep_handler_of(detail::connection_core& ended) = 0;
  [[nodiscard]] session_manager& manager() noexcept { return *this; }

 private:
  void place(stream_handle&& stream) final;
  void open_session(event_loop& on, stream_handle stream) noexcept;
  void keep_handler(event_loop& loop, detail::connection_core& of) noexcept;
  [[nodiscard]] bool runs_here(const event_loop& loop) const noexcept final;
  void retire(detail::connection_core& ended, destroy_function destroy) noexcept final;

  client_core& client_;
};

}  // namespace quintet
