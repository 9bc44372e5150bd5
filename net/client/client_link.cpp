// SPDX-License-Identifier: BSL-1.0
// client_link: attempts, waits between them, and the end of a link.
#include "client_link.hpp"

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
  drainage_.begin(within);
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
  client_link& l = of(item);
  l.all_.all_.insert(l);
  if (l.all_.closed_) return l.over();
  if (l.all_.options_.reconnect) l.backoff_.emplace(*l.all_.options_.reconnect);
  l.attempt();
}

void client_link::attempt() noexcept {
  if (all_.main_.stopping() || all_.draining_) return failed(errc::stopped);
  began_ = all_.main_.now();
  ++attempts_;
  all_.attempts_.add();
  connector_.emplace(all_.main_, all_.options_.connecting,
                     [this](error_code why, int handle) { attempt_ended(why, handle); });
  connector_->start(to_);
}

void client_link::attempt_ended(error_code why, int handle) noexcept {
  connector_.reset();
  if (why) return failed(why);
  connected_ = all_.main_.now();
  bound_buffers(handle);
  all_.drainage_.entered();
  try {
    place(handle);
  } catch (...) {
    all_.drainage_.left();
    all_.main_.io().close(handle);
    failed(detail::reason_of_exception());
  }
}

void client_link::bound_buffers(int handle) const noexcept {
  const client_options& o = all_.options_;
  if (o.connecting.socket.has_buffers() || all_.drainage_.alive() < o.memory.tuned_sockets) return;
  all_.main_.io().sockets().bound_buffers(handle, o.memory.bounded_buffers());
}

void client_link::failed(error_code why) noexcept {
  all_.failures_.add();
  const std::optional<duration> again = try_again();
  tell(why, again);
  if (!again) over();
}

// The first and the last failure of a series are warnings, the others debug messages. errc::stopped is not logged.
void client_link::tell(error_code why, std::optional<duration> again) const noexcept {
  const client_options& o = all_.options_;
  try {
    if (o.log && why != errc::stopped) {
      const severity level = again && attempts_ > 1 ? severity::debug : severity::warning;
      report(o.log, {level, "cannot connect", why, to_.to_string()});
    }
    if (o.on_connect_failed) o.on_connect_failed({id, why, attempts_, again});
  } catch (...) {  // an exception of a hook changes nothing
  }
}

// Schedules the next attempt. The wait counts from the beginning of the last attempt, so a slow failure has used it up.
std::optional<duration> client_link::try_again() noexcept {
  event_loop& main = all_.main_;
  if (!backoff_ || cancelled_ || main.stopping() || all_.draining_) return std::nullopt;
  const duration wait = std::max(duration::zero(), later(began_, backoff_->next(all_.random_)) - main.now());
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
  become(&client_link::is_home);
  all_.main_.post(static_cast<work_item&>(*this));
}

void client_link::is_home(work_item& item) noexcept {
  client_link& l = of(item);
  l.all_.drainage_.left();
  {
    const std::lock_guard lock(l.mutex_);
    l.connection_ = {};
  }
  l.close_later_.cancel();
  if (l.outcome_ == outcome::refused) return l.failed(errc::handler_threw);
  l.attempts_ = 0;
  if (l.outcome_ == outcome::closed_here) return l.over();
  if (l.backoff_ && l.all_.main_.now() - l.connected_ >= l.all_.options_.reconnect->lasted) l.backoff_->reset();
  if (!l.try_again()) l.over();
}

void client_link::cancel() noexcept {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  close_connection();
  if (connector_ || next_.pending()) over();
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
  if (next_.pending()) over();
}

void client_link::over() noexcept {
  all_.all_.erase(id);
  all_.size_.fetch_sub(1);
  delete this;
}

}  // namespace quintet
