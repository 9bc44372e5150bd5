// SPDX-License-Identifier: BSL-1.0
// poll_engine: the engine that doc/engines.md names: whole, by poll(2), and as plain as an engine can be.
#pragma once

#include <quintet/net/engine/socket_engine.hpp>
#include <quintet/net/engine/wake_event.hpp>

#include <boost/system/system_error.hpp>

#include <cerrno>
#include <memory>
#include <new>
#include <vector>

#include <fcntl.h>
#include <poll.h>

namespace quintet::testing {

class poll_engine final : public socket_engine {
 public:
  poll_engine() : socket_engine({.name = "poll", .can_detach = true, .shared_accept = true}) {
    if (const error_code failed = poll_engine::add(wake_, wake_.descriptor().get()))
      throw boost::system::system_error(failed);
  }

  bool poll(duration longest) override {
    const std::vector<channel*> watched = watched_;  // a callback may add and remove channels
    std::vector<pollfd> set;
    for (channel* const c : watched)
      set.push_back({interest(*c) & quiet ? -1 : c->handle(), static_cast<short>(interest(*c)), 0});
    const int ready = ::poll(set.data(), set.size(), system_call::to_milliseconds(longest));
    if (ready <= 0) return false;  // the time is over, or a signal has come
    bool dispatched = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set[i].revents == 0 || watched[i]->handle() < 0) continue;  // removed by an earlier callback of this turn
      dispatch(*watched[i], set[i].revents, ready);
      dispatched |= watched[i] != &wake_;
    }
    return dispatched;
  }

  void wake() noexcept override { wake_.raise(); }

  error_code add(channel& c, stream_handle&& handle) override try {
    if (handle.carried()) return system_error_code(EOPNOTSUPP);               // this engine knows sockets only
    if (::fcntl(handle.get(), F_GETFD) < 0) return system_error_code(errno);  // poll(2) would ignore or repeat it
    watched_.push_back(&c);
    bind(c, handle.get());
    interest(c) = kind_of(c) == kind::connect ? sends : reads;
    return {};
  } catch (const std::bad_alloc&) {
    return system_error_code(ENOMEM);
  }

  stream_handle remove(channel& c) noexcept override {
    std::erase(watched_, &c);
    return unbind(c);
  }

  error_code set_reading(channel& c, bool on) noexcept override {
    interest(c) = on ? (interest(c) | reads) & ~quiet : interest(c) & ~reads;
    return {};
  }

  using engine::send;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override {
    const send_result sent = result_of_send(system_call::send(c.handle(), pieces, MSG_DONTWAIT | MSG_NOSIGNAL));
    if (sent.error == 0 && sent.bytes < size_of(pieces)) interest(c) |= sends;  // on_sendable() has to follow
    return sent;
  }

 private:
  static constexpr std::uint32_t reads = POLLIN, sends = POLLOUT;
  static constexpr std::uint32_t quiet = 1U << 16;  // poll() would report its end in every turn

  void dispatch(channel& c, int events, int of_turn) {
    switch (kind_of(c)) {
      case kind::stream:
      case kind::in_place_stream:  // which receives as any other: that is up to the engine
        return stream_ready(static_cast<stream_channel&>(c), events);
      case kind::accept:
        return accept_ready(static_cast<accept_channel&>(c), static_cast<std::size_t>(of_turn));
      case kind::event:
        return static_cast<event_channel&>(c).on_event();
      case kind::connect:
        return connect_ready(static_cast<connect_channel&>(c));
    }
  }

  void stream_ready(stream_channel& c, int events) {
    if (events & POLLOUT) {
      interest(c) &= ~sends;
      c.on_sendable();
      if (c.handle() < 0) return;  // removed
    }
    if (!(events & (POLLIN | POLLHUP | POLLERR))) return;
    if (interest(c) & reads) return receive(c);
    interest(c) |= quiet;
    if (events & POLLERR) (void)report_error(c);
  }

  void receive(stream_channel& c) {
    const ssize_t n = system_call::receive(c.handle(), received_.get(), receive_limit(), MSG_DONTWAIT);
    if (n > 0) return c.on_received({received_.get(), static_cast<std::size_t>(n)});
    if (system_call::is_for_now(n)) return;
    interest(c) &= ~reads;
    c.on_receive_end(system_call::error_of(n));
  }

  void connect_ready(connect_channel& c) noexcept {
    const int handle = c.handle();
    remove(c);
    c.on_connected(kernel_sockets::finish_connect(handle));
  }

  std::vector<channel*> watched_;
  std::unique_ptr<char[]> received_ = std::make_unique_for_overwrite<char[]>(receive_size);
  wake_event wake_{EFD_NONBLOCK};
};

}  // namespace quintet::testing
