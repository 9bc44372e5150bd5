// SPDX-License-Identifier: BSL-1.0
// server_core_sessions: places accepted handles, makes their sessions, migrates and destroys these.
#include "../connection/connection_core.hpp"
#include "../engine/socket_services.hpp"
#include "../loop/drain_tracker.hpp"
#include "../loop/placing.hpp"
#include "connection_limiter.hpp"
#include "priority_loop.hpp"
#include "server_core.hpp"

#include <new>
#include <optional>
#include <utility>

namespace quintet {

bool server_core::is_priority(const event_loop& loop) const noexcept { return priority_ && priority_->owns(loop); }

connection_limiter& server_core::limiter_of(const event_loop& loop) noexcept {
  return is_priority(loop) ? priority_->limiter() : *limiter_;
}

bool server_core::runs_here(const event_loop& loop) const noexcept { return is_priority(loop) || model_.runs_inline(); }

// On a loop of the model, that loop keeps the connection. On the main loop, the model picks the loop. If this throws,
// the caller still owns the stream.
void server_core::accepted(event_loop& at, stream_handle&& stream, connection_permit permit) {
  if (is_preferred(at, stream) && transfer_to_priority_loop(std::move(stream))) return;
  drain_tracker_->entered();
  // NOLINTNEXTLINE(bugprone-use-after-move): false has left the stream
  if (&at != &main_) return open_session(at, std::move(stream), std::move(permit));
  try {
    event_loop& picked = detail::pick(model_, main_, stream);
    detail::place(model_, main_, picked, std::move(stream),
                  [this, p = std::move(permit)](event_loop& on, stream_handle s) mutable noexcept {
                    open_session(on, std::move(s), std::move(p));
                  });
  } catch (...) {
    drain_tracker_->left();
    throw;
  }
}

bool server_core::is_preferred(event_loop& at, const stream_handle& stream) const {
  return options_.advanced.priority.peers && !at.options().own_descriptors &&
         options_.advanced.priority.peers(detail::peer_of(at, stream));
}

// Returns false if the priority loop is full, or without memory.
bool server_core::transfer_to_priority_loop(stream_handle&& stream) {
  std::optional<connection_permit> permit = priority_->limiter().try_acquire({});
  if (!permit || !*permit) return false;
  drain_tracker_->entered();
  try {
    detail::post_stream(priority_->loop(), std::move(stream),
                        [this, p = std::move(*permit)](stream_handle s) mutable noexcept {
                          open_session(priority_->loop(), std::move(s), std::move(p));
                        });
    return true;
  } catch (const std::bad_alloc&) {
    drain_tracker_->left();
    return false;
  }
}

server_core::session_ptr server_core::make_session_on(event_loop& on, const stream_handle& stream) {
  const auto make = [&] { return sessions_->make(*this, on, host_, stream); };
  return is_priority(on) ? priority_->with_memory(make) : make();
}

error_code server_core::try_open_session(event_loop& on, stream_handle&& stream, connection_permit permit) noexcept
    try {
  session_ptr session = make_session_on(on, stream);
  limiter_of(on).commit(std::move(permit), session.get());
  const error_code failed = session->begin(std::move(stream));
  if (failed)
    (void)limiter_of(on).release(session.get());
  else
    (void)session.release();  // owns itself and the stream from here on
  return failed;
} catch (...) {  // the handler's copy constructor has thrown, or no memory: only this connection ends
  return detail::reason_of_unmade_session();
}

void server_core::open_session(event_loop& on, stream_handle stream, connection_permit permit) noexcept {
  const error_code failed = try_open_session(on, std::move(stream), std::move(permit));
  if (!failed) return;
  // Not a refusal, which on_refused would be told of: that is for the loop that accepts. See doc/limits.md.
  if (failed != errc::stopped)
    limiter_of(on).unopened_lines().report(host_.log, {severity::warning, "cannot open a connection", failed}, on.now(),
                                           // NOLINTNEXTLINE(bugprone-use-after-move): a failure has left the stream
                                           [&] { return detail::peer_of(on, stream).to_string(); });
  if (failed == errc::handler_threw)
    on.counters().handler_errors.add();
  else if (failed != errc::stopped)
    not_opened_.fetch_add(1, std::memory_order_relaxed);
  on.io().close(std::move(stream));
  release(on);
  drain_tracker_->left();
}

void server_core::release(event_loop& loop) noexcept {
  if (is_priority(loop))
    priority_->left();
  else
    model_.release(loop);
}

void server_core::discard(detail::connection_core& migrated, destroy_function destroy) noexcept {
  event_loop& loop = migrated.loop_;
  // Released last, after release(loop): the connection that takes the place may need the thread that becomes free.
  const connection_permit permit = limiter_of(loop).release(&migrated);
  destroy(migrated);
  release(loop);
}

void server_core::retire(detail::connection_core& ended, destroy_function destroy) noexcept {
  discard(ended, destroy);
  drain_tracker_->left();
}

// Runs on the old loop's thread.
detail::connection_core* server_core::migrate(detail::connection_core& from, event_loop& to,
                                              migrate_function make) noexcept {
  if (is_priority(to)) return migrate_to_priority_loop(from, make);
  detail::connection_core* const next = make(from, to, host_);
  if (!next) return nullptr;
  limiter_->transfer(&from, next);
  model_.occupy(to);
  return next;
}

detail::connection_core* server_core::migrate_to_priority_loop(detail::connection_core& from,
                                                               migrate_function make) noexcept {
  try {
    std::optional<connection_permit> permit = priority_->limiter().try_acquire({});
    if (!permit || !*permit) return nullptr;
    detail::connection_core* const next = make(from, priority_->loop(), host_);
    if (next) priority_->limiter().commit(std::move(*permit), next);  // cannot throw: the permit has no network
    return next;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace quintet
