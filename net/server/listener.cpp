// SPDX-License-Identifier: BSL-1.0
// listener: accepts connections, and continues after errors and exceptions.
#include "listener.hpp"

#include "../engine/socket_services.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace quintet {
namespace {

// Without descriptors or memory, connections wait in the backlog and are not refused. The pause is long against a
// failed try, which costs 0.05 ms with its wake-up. It is short for a waiting client, which may need several pauses:
// earlier clients use up the descriptors that become free.
constexpr duration pause_after_error = std::chrono::milliseconds(10);

constexpr int few = 16;                // connections that may come while a listener closes, even if none waited
constexpr int most_waiting = 1 << 16;  // maximum; also assumed for an inherited socket, whose backlog is unknown

/// Returns where a socket listens, or closes it and throws: nobody would learn a port that the system has chosen.
address address_of(event_loop& loop, int listening, const std::string& wanted) {
  errno = 0;
  address at = loop.io().sockets().local_address(listening);
  const int why = at.type() == address::kind::none ? errno : 0;  // none without an error: another family, inherited
  if (why == 0) return at;
  loop.io().close(listening);
  throw_system_error(why, "cannot listen on " + wanted + ": the system does not tell the socket's address");
}

}  // namespace

listener::listener(event_loop& loop, const listen_options& options, accept_function on_accept, const log_hook& log,
                   properties how)
    : accept_channel(how),
      loop_(loop),
      on_accept_(std::move(on_accept)),
      socket_(options.socket),
      holders_(options.descriptor < 0 ? std::make_shared<std::atomic<int>>(1) : nullptr),
      listening_(loop.io().sockets().listen(options)),
      caller_copy_(loop.options().own_descriptors ? listening_ : -1),
      max_waiting_(options.descriptor < 0 ? std::min(options.backlog, most_waiting) + 1 : most_waiting),
      at_(address_of(loop, listening_, options.at)),
      name_(at_.to_string()),
      log_(log) {
  const int most = log_ ? loop.io().sockets().largest_backlog() : 0;
  if (most > 0 && options.backlog > most)
    report(log_,
           {severity::warning, "the backlog is cut to " + std::to_string(most) + " (net.core.somaxconn)", {}, name_});
}

listener::~listener() {
  if (!started_ && listening_ >= 0) stop_listening();
  abort();
  if (listening_ >= 0 || caller_copy_ >= 0) loop_.io().close(std::max(listening_, caller_copy_));
}

void listener::share_socket_of(const listener& other) noexcept {
  holders_ = other.holders_;
  if (holders_) holders_->fetch_add(1);
}

// close() would leave a socket listening that a child of fork(), or another descriptor table, holds too.
void listener::stop_listening() noexcept {
  if (holders_ && holders_->fetch_sub(1) == 1) loop_.io().sockets().stop_listening(listening_);
}

// Accepted connections inherit the option.
void listener::set_busy_poll(std::chrono::microseconds longest) noexcept {
  if (longest == longest.zero() || !at_.is_ip()) return;
  if (const error_code refused = loop_.io().sockets().set_busy_poll(listening_, static_cast<int>(longest.count())))
    report(log_, {severity::warning, "cannot enable busy polling", refused, name_});
}

void listener::start() {
  if (const error_code ec = loop_.io().add(*this, listening_)) throw boost::system::system_error(ec, "cannot accept");
  loop_.join(*this);
  started_ = true;
}

void listener::hold(bool on) noexcept {
  held_ = on;
  update();
}

void listener::update() noexcept {
  if (!started_) return;
  const bool accepts = !held_ && !pending();
  if (const error_code refused = loop_.io().set_reading(*this, accepts)) pause_after(refused);
}

// A TCP connection inherits the buffers of its listening socket. A Unix connection does not: the peer's connect makes
// it.
void listener::on_accepted(int handle) noexcept {
  accepted_.add();
  is_failing_ = false;
  if (at_.is_unix()) loop_.io().sockets().limit_buffers(handle, socket_);
  try {
    on_accept_(handle);
  } catch (...) {
    errors_.add();
    loop_.io().close(handle);
  }
}

void listener::on_accept_error(error_code reason) noexcept {
  if (error_handler_ && error_handler_(reason)) return errors_.add();
  pause_after(reason);
}

// Tries again after the pause. Logs the first of several errors in a row.
void listener::pause_after(error_code reason) noexcept {
  errors_.add();
  if (!std::exchange(is_failing_, true)) report(log_, {severity::error, "cannot accept", reason, name_});
  loop_.start(*this, pause_after_error);
  update();
}

void listener::accept_waiting_and_close() noexcept {
  if (!started_) return;
  for (int left = most_at_close(); left > 0 && is_accepting() && accept_one(); --left) {
  }
  abort();
}

// Clients may connect as fast as the loop accepts, and each connection may cost a thread. So as many as wait now are
// accepted, and as many that come meanwhile: with a whole backlog of them, the loop would do nothing else for seconds.
int listener::most_at_close() const noexcept {
  const int waiting = loop_.io().sockets().waiting(listening_);
  return waiting < 0 ? max_waiting_ : std::min(max_waiting_, 2 * waiting + few);
}

// Returns false if there is nothing more to accept: no connection waits, or accepting failed and must pause.
bool listener::accept_one() noexcept {
  error_code failed;
  const int handle = loop_.io().sockets().accept(listening_, failed);
  if (handle >= 0) on_accepted(handle);
  if (failed) on_accept_error(failed);
  return handle >= 0 || (failed && !pending());
}

void listener::expired() noexcept { update(); }

// Closes the socket at once, so that the system refuses clients that connect while the last handlers finish.
void listener::abort() noexcept {
  if (!std::exchange(started_, false)) return;
  cancel();
  loop_.io().remove(*this);
  loop_.leave(*this);
  stop_listening();
  loop_.io().close(std::exchange(listening_, -1));
}

}  // namespace quintet
