// SPDX-License-Identifier: BSL-1.0
// connector: overlapping attempts, and their ends.
#include "connector.hpp"

#include "../engine/kernel_sockets.hpp"
#include "../engine/shm/endpoint.hpp"
#include "../engine/shm/offer.hpp"
#include "../engine/socket_services.hpp"
#include "../engine/system_call.hpp"
#include "../loop/executor.hpp"
#include "../loop/placing.hpp"
#include "../secure/loop_handshakes.hpp"
#include "../secure/securing_stream.hpp"
#include "resolver.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

namespace quintet {
namespace {

// Until the next address is tried in parallel (RFC 8305).
constexpr duration attempt_delay = std::chrono::milliseconds(250);

}  // namespace

/// An attempt with one address. Owns the handle.
class connector::attempt final : public attempt_entry,
                                 private connect_channel,
                                 private event_channel,
                                 private work_item {
 public:
  /// `to` belongs to the owner.
  attempt(connector& owner, int handle, const candidate& to) noexcept
      : work_item(&attempt::destroy_deferred), owner_(owner), loop_(owner.loop_), handle_(handle), to_(to) {}
  error_code watch() noexcept try {
    const error_code ec = loop_.io().add(static_cast<connect_channel&>(*this), handle_);
    return ec == boost::system::errc::operation_not_supported ? watch_in_guest() : ec;
  } catch (const std::bad_alloc&) {
    return make_error_code(boost::system::errc::not_enough_memory);
  }
  /// Closes the handle unless it was taken. Destroys the attempt after the turn's dispatching.
  void end() noexcept {
    if (in_guest_) (void)std::exchange(in_guest_, nullptr)->release();
    stop_watching();
    if (handle_ >= 0) loop_.io().close(take());
    loop_.defer(*this);
  }
  stream_handle take() noexcept {
    stream_handle taken(std::exchange(handle_, -1), std::move(carried_));
    taken.facts() = {.told = nullptr, .is_ip = to_.at.is_ip(), .is_connected = true};
    return taken;
  }
  [[nodiscard]] const address& at() const noexcept { return to_.at; }

 private:
  void on_connected(error_code result) noexcept override {
    if (!result) result = check_server();
    if (!result && expects_offer()) result = loop_.io().add(static_cast<event_channel&>(*this), handle_);
    if (result || !expects_offer()) owner_.attempt_ended(*this, result);
  }
  [[nodiscard]] bool expects_offer() const noexcept { return to_.plain.has_value(); }
  [[nodiscard]] error_code check_server() const noexcept;
  void on_event() noexcept override;
  void stop_watching() noexcept {
    if (connect_channel::handle() >= 0) (void)loop_.io().remove(static_cast<connect_channel&>(*this));
    if (event_channel::handle() >= 0) (void)loop_.io().remove(static_cast<event_channel&>(*this));
  }
  error_code watch_in_guest() noexcept;
  static void destroy_deferred(work_item& item) noexcept { delete static_cast<attempt*>(&item); }

  connector& owner_;
  event_loop& loop_;
  int handle_;
  std::unique_ptr<transport> carried_;
  const candidate& to_;
  using descriptor = boost::asio::posix::basic_stream_descriptor<loop_executor>;
  std::shared_ptr<descriptor> in_guest_;  // shared with a wait that may end later than this
};

// Handles of an engine that cannot watch them are kernel sockets. The guest opens its descriptors at the first use,
// which may fail.
error_code connector::attempt::watch_in_guest() noexcept try {
  in_guest_ = std::make_shared<descriptor>(loop_.get_executor(), handle_);
  in_guest_->async_wait(descriptor::wait_write, [this, alive = std::weak_ptr(in_guest_)](const error_code& ec) {
    if (alive.expired() || ec == boost::asio::error::operation_aborted) return;
    (void)in_guest_->release();
    in_guest_.reset();
    on_connected(kernel_sockets::finish_connect(handle_));
  });
  return {};
} catch (...) {
  return detail::reason_of_exception();
}

// Before any byte: the kernel knows who listens as soon as the connection exists.
error_code connector::attempt::check_server() const noexcept try {
  const auto& may_be_server = owner_.options_.may_be_server;
  const bool may_be = to_.plain       ? shm::is_expected_server(handle_, *to_.plain, may_be_server)
                      : may_be_server ? kernel_sockets::is_peer(handle_, may_be_server)
                                      : true;
  return may_be ? error_code() : system_error_code(EACCES);
} catch (...) {
  return detail::reason_of_exception();
}

// The server has made its offer, or has closed the socket.
void connector::attempt::on_event() noexcept try {
  shm::segment memory;
  const error_code failed = shm::receive_offer(handle_, memory);
  if (failed == boost::system::errc::resource_unavailable_try_again) return;
  stop_watching();
  if (!failed) carried_ = std::make_unique<shm::carried_endpoint>(std::move(memory));
  owner_.attempt_ended(*this, failed);
} catch (...) {
  owner_.attempt_ended(*this, detail::reason_of_exception());
}

/// The handshake of the address that has answered. It owns the stream until then.
class connector::secured final : public securing_stream {
 public:
  secured(connector& owner, securing_queue& queue, stream_handle&& stream, std::string server)
      : securing_stream(queue),
        loop_(owner.loop_),
        owner_(&owner),
        stream_(std::move(stream)),
        server_(std::move(server)) {}
  void start() noexcept { securing_stream::start(stream_.get()); }
  /// Ends the handshake without telling the owner.
  void abandon() noexcept {
    owner_ = nullptr;
    stop();
  }

 private:
  [[nodiscard]] std::string_view server_name() const noexcept override { return server_; }
  void finished(error_code failed, std::unique_ptr<transport> carried, bytes last_words) noexcept override;

  event_loop& loop_;
  connector* owner_;
  stream_handle stream_;
  const std::string server_;
};

// The server is told why; a server that has gone cannot be.
void connector::secured::finished(error_code failed, std::unique_ptr<transport> carried, bytes last_words) noexcept {
  if (failed) {
    if (!last_words.empty())
      (void)system_call::send(stream_.get(), last_words.data(), last_words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    loop_.io().close(std::move(stream_));
  } else {
    stream_.set_carried(std::move(carried));
  }
  if (!owner_) return;
  owner_->secured_ = nullptr;
  owner_->finish(failed, std::move(stream_));
}

connector::connector(event_loop& loop, const connect_options& options, done_function done)
    : loop_(loop),
      options_(options),
      done_(std::move(done)),
      limit_([this] { finish(errc::connect_timeout); }),
      next_([this] { try_next(); }) {
  if (options_.upgrade != connection_upgrade::none && !loop_.options().tuning.shared_memory)
    throw config_error("upgrade is shared_memory; the loop's tuning.shared_memory must be true");
  if (options_.tls && !loop_.options().tuning.filters)
    throw config_error("tls is set; the loop's tuning.filters must be true");
}

connector::~connector() { clean_up(); }

void connector::start(const destination& to) noexcept {
  loop_.join(*this);
  joined_ = true;
  if (options_.timeout > duration::zero()) loop_.start(limit_, options_.timeout);
  if (!to.candidates().empty() || loop_.stopping()) return found({}, to.candidates());
  try {
    if (options_.tls) host_ = to.host();
    resolver_ = std::make_unique<resolver>(loop_, to.host(), to.port(),
                                           [this](error_code failed, const auto& all) { found(failed, all); });
  } catch (...) {  // no thread for the lookup, no descriptors, no memory
    last_failure_ = detail::reason_of_exception();
    found({}, {});
  }
}

// A timer starts the first attempt, too, so that start() returns before the done function is called.
void connector::found(error_code failed, const std::vector<address>& candidates) noexcept {
  if (failed) return finish(failed);
  try {
    candidates_ = to_try(interleaved(candidates));
  } catch (const std::bad_alloc&) {
    last_failure_ = make_error_code(boost::system::errc::not_enough_memory);
  } catch (const config_error&) {  // the address with ".shm" is too long
    last_failure_ = make_error_code(boost::system::errc::filename_too_long);
  }
  loop_.start(next_, duration::zero());
}

std::vector<connector::candidate> connector::to_try(const std::vector<address>& all) const {
  std::vector<candidate> result;
  for (const address& at : all) {
    if (options_.upgrade != connection_upgrade::none && at.is_unix())
      result.push_back({address(shm::offer_address(at.to_string())), at});
    result.push_back({at, std::nullopt});
  }
  return result;
}

// Returns -1 and sets the reason, or the handle of a socket that connects.
int connector::open(const candidate& to) noexcept {
  if (to.plain) return shm::connect_for_offer(to.at, last_failure_);
  if (options_.tls ? !to.at.is_unix() : !options_.may_be_server || to.at.is_unix())
    return loop_.io().sockets().connect(to.at, last_failure_, options_.socket);
  last_failure_ = make_error_code(boost::system::errc::operation_not_supported);
  return -1;
}

void connector::try_next() noexcept {
  if (loop_.stopping()) return finish(errc::stopped);
  while (tried_ < candidates_.size()) {
    const candidate& to = candidates_[tried_++];
    const int handle = open(to);
    if (handle < 0) continue;
    auto* const a = new (std::nothrow) attempt(*this, handle, to);
    if (!a) {
      loop_.io().close(handle);
      return finish(make_error_code(boost::system::errc::not_enough_memory));
    }
    pending_attempts_.push_back(*a);
    if (const error_code ec = a->watch()) return attempt_ended(*a, ec);
    if (tried_ < candidates_.size()) loop_.start(next_, attempt_delay);
    return;
  }
  if (pending_attempts_.empty()) finish(last_failure_);
}

void connector::attempt_ended(attempt& which, error_code failed) noexcept {
  if (!failed) return connected(which.take(), which.at());
  last_failure_ = failed;
  pending_attempts_.erase(pending_attempts_.iterator_to(which));
  which.end();
  next_.cancel();
  try_next();  // no delay: the attempt has ended
}

// The time limit goes on. Other attempts end.
void connector::connected(stream_handle stream, const address& at) noexcept {
  if (!options_.tls) return finish({}, std::move(stream));
  end_attempts();
  try {
    std::string server = host_.empty() ? at.host() : host_;
    secured_ = new secured(*this, loop_.use<loop_handshakes>().of(options_.tls), std::move(stream), std::move(server));
  } catch (const std::bad_alloc&) {
    loop_.io().close(std::move(stream));
    return finish(make_error_code(boost::system::errc::not_enough_memory));
  }
  secured_->start();
}

void connector::abort() noexcept { finish(errc::stopped); }

void connector::finish(error_code why, stream_handle stream) noexcept {
  clean_up();
  event_loop& loop = loop_;  // done() may destroy this object
  const done_function done = std::move(done_);
  try {
    done(why, std::move(stream));
  } catch (...) {
    loop.counters().handler_errors.add();
  }
}

void connector::clean_up() noexcept {
  if (!std::exchange(joined_, false)) return;
  loop_.leave(*this);
  limit_.cancel();
  resolver_.reset();
  if (secured_) std::exchange(secured_, nullptr)->abandon();
  end_attempts();
}

void connector::end_attempts() noexcept {
  next_.cancel();
  pending_attempts_.clear_and_dispose([](attempt_entry* a) { static_cast<attempt*>(a)->end(); });
}

}  // namespace quintet
