// SPDX-License-Identifier: BSL-1.0
// connection_pool: idle sockets, waiters, and attempts to connect for waiters without an idle socket.
#include "connection_pool.hpp"

#include "../engine/socket_services.hpp"
#include "../loop/placing.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>

#include <sys/socket.h>

namespace quintet {
namespace {

/// Whether nothing has arrived, not even the end of the stream.
bool is_quiet(int fd) noexcept {
  char byte = 0;
  return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

}  // namespace

connection_pool::connection_pool(event_loop& loop, destination to, connection_pool_options options)
    : loop_(loop), to_(std::move(to)), options_((validate(options), options)) {}

connection_pool::~connection_pool() {
  cancel();
  dialling_.clear();
  while (!waiting_.empty()) waiting_.front()->complete(errc::stopped);
  *self_ = nullptr;
}

// Takes an idle socket. The peer may have closed it meanwhile: such sockets are closed.
std::optional<connection_pool::socket_type> connection_pool::take_idle() {
  while (waiting_.empty() && !idle_.empty()) {
    socket_type socket = std::move(idle_.back().socket);
    idle_.pop_back();
    if (!is_quiet(socket.native_handle())) continue;
    ++lent_;
    return socket;
  }
  return std::nullopt;
}

void connection_pool::put_back(socket_type socket, bool good) noexcept {
  --lent_;
  if (good && !loop_.stopping() && is_quiet(socket.native_handle())) {
    try {
      idle_.push_back({std::move(socket), loop_.now()});
    } catch (const std::bad_alloc&) {  // the socket is closed
    }
  }
  serve();
}

// Gives idle sockets to waiters first. Then starts an attempt for each remaining waiter, up to the limit.
void connection_pool::serve() noexcept {
  while (!waiting_.empty() && !idle_.empty()) {
    socket_type socket = std::move(idle_.back().socket);
    idle_.pop_back();
    if (!is_quiet(socket.native_handle())) continue;
    waiter& first = *waiting_.front();
    ++lent_;
    first.given_ = std::move(socket);
    first.complete({});
  }
  while (!dials_if_necessary() && dialling_.empty() && lent_ == 0)  // nothing else would wake the first waiter
    waiting_.front()->complete(make_error_code(boost::system::errc::not_enough_memory));
  watch_time();
}

// Returns false if a waiter needs an attempt for which there is no memory.
bool connection_pool::dials_if_necessary() noexcept {
  while (dialling_.size() < waiting_.size() && size() + dialling_.size() < options_.max) {
    auto at = dialling_.end();
    try {
      at = dialling_.emplace(at);
      *at = std::make_unique<connector>(loop_, options_.connecting, [this, at](error_code failed, stream_handle s) {
        dialled(at, failed, s.release());
      });
    } catch (const std::bad_alloc&) {
      if (at != dialling_.end()) dialling_.erase(at);
      return false;
    }
    (*at)->start(to_);
  }
  return true;
}

// Makes an idle socket of a handle. Closes the handle if that fails: an Asio socket may need descriptors of its own.
error_code connection_pool::add_idle(int handle) noexcept {
  error_code failed;
  bool is_sockets = false;
  try {
    const address there = loop_.io().sockets().remote_address(handle);
    socket_type socket(loop_.get_executor());
    socket.assign(boost::asio::generic::stream_protocol(there.data()->sa_family, 0), handle, failed);
    is_sockets = !failed;
    if (!failed) idle_.push_back({std::move(socket), loop_.now()});
  } catch (...) {
    failed = detail::reason_of_exception();
  }
  if (!is_sockets) loop_.io().close(handle);
  return failed;
}

void connection_pool::dialled(dial_list::iterator which, error_code failed, int handle) noexcept {
  dialling_.erase(which);
  if (!failed) failed = add_idle(handle);
  if (failed && !waiting_.empty()) waiting_.front()->complete(failed);
  serve();
}

void connection_pool::watch_time() noexcept {
  if (idle_.empty() || options_.idle_timeout == duration::zero()) return cancel();
  loop_.start(*this, between(loop_.now(), later(idle_.front().since, options_.idle_timeout)));
}

void connection_pool::expired() noexcept {
  while (!idle_.empty() && later(idle_.front().since, options_.idle_timeout) <= loop_.now()) idle_.pop_front();
  watch_time();
}

connection_pool::lease::~lease() {
  if (pool_ && *pool_) (*pool_)->put_back(std::move(socket_), good_ && std::uncaught_exceptions() == 0);
}

void connection_pool::waiter::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  if (host_.add(*this)) return complete(error_of(host_.cancelled()));
  (*pool_)->waiting_.push_back(this);
  (*pool_)->serve();
}

connection_pool::lease connection_pool::waiter::await_resume() {
  if (!given_) throw boost::system::system_error(failed_);
  return {pool_, std::move(*given_)};
}

// Posted, so that the coroutine that returns a socket continues first.
void connection_pool::waiter::complete(error_code failed) noexcept {
  std::erase((*pool_)->waiting_, this);
  failed_ = failed;
  loop_.post(static_cast<work_item&>(*this));
}

void connection_pool::waiter::cancel() noexcept {
  if (*pool_ && std::ranges::count((*pool_)->waiting_, this) > 0) complete(error_of(host_.cancelled()));
}

}  // namespace quintet
