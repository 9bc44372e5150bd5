// SPDX-License-Identifier: BSL-1.0
// session_link: makes a session of a connected handle, and destroys it at its end.
#include "session_link.hpp"

#include "../connection/connection_core.hpp"
#include "../loop/placing.hpp"

#include <utility>

namespace quintet {

session_link::session_link(client_core& client, destination to)
    : client_link(client.links_, std::move(to)), session_manager(*client.model_), client_(client) {}

void session_link::place(stream_handle&& stream) {
  detail::place(model_, client_.main_, model_.place(), std::move(stream),
                [this](event_loop& on, stream_handle s) noexcept { open_session(on, std::move(s)); });
}

bool session_link::runs_here(const event_loop& /*loop*/) const noexcept { return model_.runs_inline(); }

void session_link::open_session(event_loop& on, stream_handle stream) noexcept {
  error_code why;
  try {
    session_ptr made = make_session(on, client_.host_, stream);
    why = made->begin(std::move(stream));
    // From here on it owns itself and the stream, and lives at least until the end of this turn.
    if (!why) return opened(made.release()->id_);
    keep_handler(on, *made);
  } catch (...) {  // the handler's copy constructor threw, or there is no memory
    why = detail::reason_of_unmade_session();
  }
  if (why == errc::handler_threw) on.counters().handler_errors.add();
  on.io().close(std::move(stream));  // NOLINT(bugprone-use-after-move): a failure has left it
  model_.release(on);
  refused(why);
}

void session_link::keep_handler(event_loop& loop, detail::connection_core& of) noexcept try {
  if (client_.keeps_handlers()) keep_handler_of(of);
} catch (...) {  // the next connection gets a new handler
  loop.counters().handler_errors.add();
}

void session_link::retire(detail::connection_core& ended_session, destroy_function destroy) noexcept {
  event_loop& loop = ended_session.loop_;
  const bool closed_here = ended_session.closed_here();
  if (ended_session.reason() != errc::handler_threw) keep_handler(loop, ended_session);
  destroy(ended_session);
  model_.release(loop);
  ended(closed_here);
}

}  // namespace quintet
