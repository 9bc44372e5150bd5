// SPDX-License-Identifier: BSL-1.0
// listener: accepting that survives every error and every exception.
#include "listener.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace quintet {
namespace {

// Out of descriptors or memory: what is waiting stays in the backlog, and nobody is answered falsely. Long against a
// try in vain, which costs 0.05 ms with its wake-up; short against the patience of who waits, since several may be
// needed: descriptors that become free one after the other are used up again by the first of those who wait.
constexpr duration pause_after_error = std::chrono::milliseconds(10);

constexpr int most_inherited = 1 << 16;  // of a listening socket whose backlog somebody else has chosen

}  // namespace

// A TCP connection inherits the buffers of its listening socket; a Unix one is made by the peer's connect.
listener::listener(event_loop& loop, const listen_options& options, accept_function on_accept, const log_hook& log,
                   bool shared)
    : accept_channel(shared),
      loop_(loop),
      on_accept_(std::move(on_accept)),
      socket_(options.socket),
      listening_(loop.io().sockets().listen(options)),
      copy_(loop.options().own_descriptors ? listening_ : -1),
      most_waiting_(options.descriptor < 0 ? std::min(options.backlog, most_inherited) + 1 : most_inherited),
      at_(loop.io().sockets().local_address(listening_)),
      name_(at_.to_string()),
      log_(log) {
  const int most = log_ ? loop.io().sockets().largest_backlog() : 0;
  if (most > 0 && options.backlog > most)
    report(log_,
           {severity::warning, "the backlog is cut to " + std::to_string(most) + " (net.core.somaxconn)", {}, name_});
}

listener::~listener() {
  abort();
  if (listening_ >= 0 || copy_ >= 0) loop_.io().close(std::max(listening_, copy_));
}

// A connection inherits it.
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
  if (started_) loop_.io().set_reading(*this, !held_ && !pending());
}

void listener::on_accepted(int handle) noexcept {
  accepted_.add();
  troubled_ = false;
  if (at_.is_unix()) loop_.io().sockets().bound_buffers(handle, socket_);
  try {
    on_accept_(handle);
  } catch (...) {
    errors_.add();
    loop_.io().close(handle);
  }
}

// Told once for each time of trouble, however often it is tried again.
void listener::on_accept_error(error_code reason) noexcept {
  errors_.add();
  if (rescue_ && rescue_(reason)) return;
  if (!std::exchange(troubled_, true)) report(log_, {severity::error, "cannot accept", reason, name_});
  loop_.start(*this, pause_after_error);
  update();
}

// At most as many as can wait, because others may come as fast as they are accepted.
void listener::accept_waiting_and_close() noexcept {
  for (int n = 0; n < most_waiting_ && is_accepting() && accept_one(); ++n) {
  }
  abort();
}

// False: nobody waits, or it is not to be tried again now.
bool listener::accept_one() noexcept {
  error_code failed;
  const int handle = loop_.io().sockets().accept(listening_, failed);
  if (handle >= 0) on_accepted(handle);
  if (failed) on_accept_error(failed);
  return handle >= 0;
}

void listener::expired() noexcept { update(); }

// Closed at once, so that who comes while the last handlers finish is told that nobody listens here any more: also
// where other tables have descriptors of the socket.
void listener::abort() noexcept {
  if (!std::exchange(started_, false)) return;
  cancel();
  loop_.io().remove(*this);
  loop_.leave(*this);
  if (copy_ >= 0) loop_.io().sockets().stop_listening(listening_);
  loop_.io().close(std::exchange(listening_, -1));
}

}  // namespace quintet
