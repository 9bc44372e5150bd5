// SPDX-License-Identifier: BSL-1.0
// client_link: attempts, waits between them, and the end of a link.
#include "client_link.hpp"

#include "../engine/socket_services.hpp"
#include "../loop/placing.hpp"

#include <new>
#include <utility>

namespace quintet {

client_links::client_links(event_loop& main, const client_options& options, connection_registry& connections)
    : main_(main),
      options_(options),
      connections_(connections),
      random_(options.seed ? *options.seed : std::random_device()()) {}

void client_links::clear() noexcept {
  all_.clear_and_dispose([](link_entry* l) { delete static_cast<client_link*>(l); });
  size_.store(0);
}

void client_links::drain(duration within) noexcept {
  if (std::exchange(draining_, true)) return;
  report(options_.log, {severity::info, "draining"});
  try {
    connections_.drain();
  } catch (const std::bad_alloc&) {  // no memory to tell the connections
    return main_.stop();
  }
  for (auto l = all_.begin(); l != all_.end();) static_cast<client_link&>(*l++).give_up();
  drain_tracker_.begin(within);
}

link_id client_links::start(std::unique_ptr<client_link> link) noexcept {
  const auto id = link->id = static_cast<link_id>(newest_.fetch_add(1) + 1);
  size_.fetch_add(1);
  main_.post(static_cast<work_item&>(*link.release()));
  return id;
}

void client_links::disconnect(link_id which) {
  main_.post([this, which]() noexcept {
    if (const auto found = all_.find(which); found != all_.end()) static_cast<client_link&>(*found).cancel();
  });
}

void client_link::begin(work_item& item) noexcept {
  client_link& l = from_item(item);
  l.all_.all_.insert(l);
  if (l.all_.closed_) return l.remove_self();
  if (l.all_.options_.reconnect) l.backoff_.emplace(*l.all_.options_.reconnect);
  l.attempt();
}

void client_link::attempt() noexcept {
  if (all_.main_.stopping() || all_.draining_) return failed(errc::stopped);
  began_ = all_.main_.now();
  ++attempts_;
  all_.attempts_.add();
  connector_.emplace(all_.main_, all_.options_.connecting,
                     [this](error_code why, stream_handle stream) { attempt_ended(why, std::move(stream)); });
  connector_->start(to_);
}

void client_link::attempt_ended(error_code why, stream_handle stream) noexcept {
  connector_.reset();
  if (why) return failed(why);
  connected_ = all_.main_.now();
  limit_buffers(stream.get());
  all_.drain_tracker_.entered();
  try {
    place(std::move(stream));
  } catch (...) {
    all_.drain_tracker_.left();
    all_.main_.io().close(std::move(stream));
    failed(detail::reason_of_exception());
  }
}

void client_link::limit_buffers(int handle) const noexcept {
  const client_options& o = all_.options_;
  if (o.connecting.socket.has_buffers() || all_.drain_tracker_.alive() < o.memory.tuned_sockets) return;
  all_.main_.io().sockets().limit_buffers(handle, o.memory.bounded_buffers());
}

void client_link::failed(error_code why) noexcept {
  all_.failures_.add();
  const std::optional<duration> retry_in = schedule_retry();
  report_failure(why, retry_in);
  if (!retry_in) remove_self();
}

// The first and the last failure of a series are warnings, the others debug messages. errc::stopped is not logged.
void client_link::report_failure(error_code why, std::optional<duration> retry_in) const noexcept {
  const client_options& o = all_.options_;
  const severity level = retry_in && attempts_ > 1 ? severity::debug : severity::warning;
  if (why != errc::stopped)
    detail::report_of_peer(o.log, {level, "cannot connect", why}, [this] { return to_.to_string(); });
  try {
    if (o.on_connect_failed) o.on_connect_failed({id, why, attempts_, retry_in});
  } catch (...) {  // an exception of the hook changes nothing
  }
}

// Schedules the next attempt. The wait counts from the beginning of the last attempt, so a slow failure has used it up.
std::optional<duration> client_link::schedule_retry() noexcept {
  event_loop& main = all_.main_;
  if (!backoff_ || cancelled_ || main.stopping() || all_.draining_) return std::nullopt;
  const duration wait = std::max(duration::zero(), between(main.now(), later(began_, backoff_->next(all_.random_))));
  main.start(next_, wait);
  return wait;
}

void client_link::opened(connection_id c) noexcept {
  const std::lock_guard lock(mutex_);
  connection_ = c;
  if (cancelled_) all_.main_.post(close_again_);
}

void client_link::finish(outcome how) noexcept {
  outcome_ = how;
  become(&client_link::handle_outcome);
  all_.main_.post(static_cast<work_item&>(*this));
}

void client_link::handle_outcome(work_item& item) noexcept {
  client_link& l = from_item(item);
  l.all_.drain_tracker_.left();
  {
    const std::lock_guard lock(l.mutex_);
    l.connection_ = {};
  }
  l.close_later_.cancel();
  if (l.outcome_ == outcome::refused) return l.failed(l.refused_why_);
  l.attempts_ = 0;
  if (l.outcome_ == outcome::closed_here) return l.remove_self();
  if (l.backoff_ && between(l.connected_, l.all_.main_.now()) >= l.all_.options_.reconnect->lasted) l.backoff_->reset();
  if (!l.schedule_retry()) l.remove_self();
}

void client_link::cancel() noexcept {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  close_connection();
  if (connector_ || next_.pending()) remove_self();
}

void client_link::close_connection() noexcept {
  const std::lock_guard lock(mutex_);
  if (!connection_) return;
  try {
    (void)all_.connections_.close(connection_);
  } catch (const std::bad_alloc&) {
    all_.main_.start(close_later_, retry_after);
  }
}

// Ends an attempt or a wait. A connection, if there is one, drains by itself.
void client_link::give_up() noexcept {
  if (connector_) return attempt_ended(errc::stopped, -1);
  if (next_.pending()) remove_self();
}

void client_link::remove_self() noexcept {
  all_.all_.erase(id);
  all_.size_.fetch_sub(1);
  delete this;
}

}  // namespace quintet
