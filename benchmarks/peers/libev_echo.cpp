// SPDX-License-Identifier: BSL-1.0
// libev_echo.cpp: an echo server on libev: a watcher for each connection, recv and send in its callback.
#include "listen.hpp"
#include "peers/makers.hpp"

#include <ev.h>
#include <sys/socket.h>

#include <cerrno>
#include <vector>

namespace quintet::bench {
namespace {

class libev_echo final : public listening_peer {
 public:
  explicit libev_echo(const peer_options& o)
      : listening_peer(o),
        loop_(ev_loop_new(EVBACKEND_EPOLL)),
        buffer_(std::make_unique_for_overwrite<char[]>(peer_buffer_bytes)) {
    ev_set_userdata(loop_, this);
    ev_io_init(&accepting_, on_connection, listening().get(), EV_READ);
    ev_io_init(&stopping_, on_stop, stop_fd(), EV_READ);
    ev_io_start(loop_, &accepting_);
    ev_io_start(loop_, &stopping_);
  }
  ~libev_echo() override { ev_loop_destroy(loop_); }

  void run() override { ev_run(loop_, 0); }

 private:
  struct client {
    ev_io io;
    unique_fd fd;
    std::string unsent;
  };

  static libev_echo& of(struct ev_loop* loop) { return *static_cast<libev_echo*>(ev_userdata(loop)); }
  static void on_stop(struct ev_loop* loop, ev_io*, int) { ev_break(loop, EVBREAK_ALL); }

  static void on_connection(struct ev_loop* loop, ev_io*, int) {
    libev_echo& self = of(loop);
    while (unique_fd fd = accept_from(self.listening())) {
      const auto at = static_cast<std::size_t>(fd.get());
      if (self.clients_.size() <= at) self.clients_.resize(at + 1);
      self.clients_[at] = std::make_unique<client>();
      client& c = *self.clients_[at];
      c.fd = std::move(fd);
      ev_io_init(&c.io, on_client, c.fd.get(), EV_READ);
      c.io.data = &c;
      ev_io_start(loop, &c.io);
    }
  }

  static void on_client(struct ev_loop* loop, ev_io* w, int) {
    client& c = *static_cast<client*>(w->data);
    const bool alive = c.unsent.empty() ? of(loop).serve(c) : of(loop).send(c, std::exchange(c.unsent, {}));
    if (alive) return;
    ev_io_stop(loop, w);
    of(loop).clients_[static_cast<std::size_t>(w->fd)].reset();
  }

  bool serve(client& c) {
    const ssize_t got = ::recv(c.fd.get(), buffer_.get(), peer_buffer_bytes, 0);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    return send(c, {buffer_.get(), static_cast<std::size_t>(got)});
  }

  bool send(client& c, std::string_view data) {
    const ssize_t sent = ::send(c.fd.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent < static_cast<ssize_t>(data.size()))
      c.unsent = data.substr(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    watch(c, c.unsent.empty() ? EV_READ : EV_WRITE);
    return true;
  }

  void watch(client& c, int events) {
    if ((c.io.events & (EV_READ | EV_WRITE)) == events) return;
    ev_io_stop(loop_, &c.io);
    ev_io_set(&c.io, c.fd.get(), events);
    ev_io_start(loop_, &c.io);
  }

  struct ev_loop* loop_;
  ev_io accepting_{}, stopping_{};
  std::vector<std::unique_ptr<client>> clients_;  ///< by descriptor
  std::unique_ptr<char[]> buffer_;
};

}  // namespace

std::unique_ptr<peer_server> make_libev_echo(const peer_options& o) { return std::make_unique<libev_echo>(o); }

}  // namespace quintet::bench
