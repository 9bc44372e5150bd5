// SPDX-License-Identifier: BSL-1.0
// attached_manager: makes the session on the loop that the program names or that the model picks.
#include "attached_manager.hpp"

#include "../connection/connection_core.hpp"
#include "../engine/socket_services.hpp"
#include "../loop/drain_tracker.hpp"
#include "../loop/placing.hpp"

#include <memory>
#include <utility>

namespace quintet::detail {

attached_manager::attached_manager(server_core& server, bool placed) noexcept
    : session_manager(server.model_), server_(server), placed_(placed) {}

void attached_manager::attach(server_core& server, event_loop* near, stream_handle&& stream,
                              std::shared_ptr<attachment> what) {
  server.drain_tracker_->entered();
  try {
    if (near && near->io().capabilities().single_stream) near = nullptr;
    post_stream(near ? *near : server.main_, std::move(stream),
                [&server, near, w = std::move(what)](stream_handle s) noexcept {
                  if (near) return begin(server, *near, false, std::move(s), *w);
                  place_by_model(server, std::move(s), w);
                });
  } catch (...) {
    server.drain_tracker_->left();
    throw;
  }
}

// Runs on the main loop.
void attached_manager::place_by_model(server_core& server, stream_handle stream,
                                      const std::shared_ptr<attachment>& what) noexcept {
  if (server.main_.stopping()) return refuse(server, server.main_, std::move(stream), errc::stopped, *what);
  try {
    place(server.model_, server.main_, server.model_.place(), std::move(stream),
          [&server, what](event_loop& on, stream_handle s) noexcept { begin(server, on, true, std::move(s), *what); });
  } catch (...) {
    refuse(server, server.main_, std::move(stream), reason_of_exception(), *what);
  }
}

error_code attached_manager::try_begin(server_core& server, event_loop& on, bool placed, stream_handle&& stream,
                                       attachment& what) {
  std::unique_ptr<attached_manager> manager(new attached_manager(server, placed));
  session_ptr session = what.make(*manager, on, server.host_);
  if (const error_code failed = session->begin(std::move(stream))) return failed;
  (void)manager.release();  // from here on the session owns itself and the stream; retire() deletes its manager
  (void)session.release();
  return {};
}

void attached_manager::begin(server_core& server, event_loop& on, bool placed, stream_handle stream,
                             attachment& what) noexcept {
  error_code failed = errc::stopped;
  try {
    if (!on.stopping()) {
      failed = stream.facts().is_connected ? error_code() : on.io().sockets().adopt_stream(stream);
      if (!failed) failed = try_begin(server, on, placed, std::move(stream), what);
      if (!failed) return;
    }
  } catch (...) {
    failed = reason_of_unmade_session();
  }
  if (placed) server.release(on);
  // NOLINTNEXTLINE(bugprone-use-after-move): a failure has left the stream
  refuse(server, on, std::move(stream), failed, what);
}

void attached_manager::refuse(server_core& server, event_loop& on, stream_handle&& stream, error_code why,
                              attachment& what) noexcept {
  // Such a number may be another thread's new descriptor, or that of a connection of this loop.
  const bool is_foreign = why == boost::system::errc::bad_file_descriptor || why == boost::system::errc::file_exists;
  if (!is_foreign) on.io().close(std::move(stream));
  server.drain_tracker_->left();
  what.refuse(why);
}

bool attached_manager::runs_here(const event_loop& loop) const noexcept { return server_.runs_here(loop); }

void attached_manager::retire(connection_core& ended, destroy_function destroy) noexcept {
  event_loop& loop = ended.loop_;
  destroy(ended);
  if (placed_) server_.release(loop);
  drain_tracker& left_behind = *server_.drain_tracker_;
  delete this;
  left_behind.left();
}

}  // namespace quintet::detail
