// SPDX-License-Identifier: BSL-1.0
// libevent_echo.cpp: an echo server on libevent's bufferevents, in the style of its book.
#include "peers/makers.hpp"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <unordered_set>

namespace quintet::bench {
namespace {

struct deleter {
  void operator()(event_base* p) const { event_base_free(p); }
  void operator()(event* p) const { event_free(p); }
  void operator()(evconnlistener* p) const { evconnlistener_free(p); }
};

class libevent_echo final : public listening_peer {
 public:
  explicit libevent_echo(const peer_options& o)
      : listening_peer(o),
        base_(event_base_new()),
        listener_(evconnlistener_new(base_.get(), on_accept, this, LEV_OPT_CLOSE_ON_EXEC, 0, listening().get())),
        stop_(event_new(base_.get(), stop_fd(), EV_READ, on_stop, this)) {
    event_add(stop_.get(), nullptr);
  }
  ~libevent_echo() override {
    for (bufferevent* client : clients_) bufferevent_free(client);
  }

  void run() override { event_base_dispatch(base_.get()); }

 private:
  static void on_stop(evutil_socket_t, short, void* self) {
    event_base_loopbreak(static_cast<libevent_echo*>(self)->base_.get());
  }

  static void on_accept(evconnlistener*, evutil_socket_t fd, sockaddr*, int, void* self) {
    auto& echo = *static_cast<libevent_echo*>(self);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    bufferevent* client = bufferevent_socket_new(echo.base_.get(), fd, BEV_OPT_CLOSE_ON_FREE);
    echo.clients_.insert(client);
    bufferevent_setcb(client, on_read, nullptr, on_event, self);
    bufferevent_enable(client, EV_READ | EV_WRITE);
  }

  static void on_read(bufferevent* client, void*) {
    evbuffer_add_buffer(bufferevent_get_output(client), bufferevent_get_input(client));
  }

  static void on_event(bufferevent* client, short what, void* self) {
    // After the peer's FIN, send the remaining output first.
    if ((what & BEV_EVENT_EOF) != 0 && evbuffer_get_length(bufferevent_get_output(client)) > 0)
      bufferevent_setcb(client, nullptr, on_written, on_event, self);
    else
      on_written(client, self);
  }

  static void on_written(bufferevent* client, void* self) {
    static_cast<libevent_echo*>(self)->clients_.erase(client);
    bufferevent_free(client);
  }

  std::unique_ptr<event_base, deleter> base_;
  std::unique_ptr<evconnlistener, deleter> listener_;
  std::unique_ptr<event, deleter> stop_;
  std::unordered_set<bufferevent*> clients_;
};

}  // namespace

std::unique_ptr<peer_server> make_libevent_echo(const peer_options& o) { return std::make_unique<libevent_echo>(o); }

}  // namespace quintet::bench
