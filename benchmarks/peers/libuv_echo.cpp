// SPDX-License-Identifier: BSL-1.0
// libuv_echo.cpp: an echo server on libuv: uv_read_start and uv_write, with one buffer for each connection.
#include "peers/makers.hpp"

#include <unistd.h>
#include <uv.h>

namespace quintet::bench {
namespace {

struct uv_client {
  uv_tcp_t socket{};
  uv_write_t writing{};
  std::unique_ptr<char[]> buffer = std::make_unique_for_overwrite<char[]>(peer_buffer_bytes);
  bool busy = false;    ///< the buffer is being written
  bool paused = false;  ///< more input arrived during the write
  bool ended = false;   ///< the peer has sent FIN

  uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&socket); }
  void start() { uv_read_start(stream(), on_buffer, on_read); }
  void close() {
    auto* const handle = reinterpret_cast<uv_handle_t*>(&socket);
    if (uv_is_closing(handle) == 0) uv_close(handle, on_closed);
  }

  static uv_client& of(uv_handle_t* h) { return *static_cast<uv_client*>(h->data); }
  static void on_closed(uv_handle_t* h) { delete &of(h); }
  static void on_buffer(uv_handle_t* h, std::size_t /*suggested*/, uv_buf_t* into) {
    *into = uv_buf_init(of(h).buffer.get(), of(h).busy ? 0 : peer_buffer_bytes);
  }
  static void on_read(uv_stream_t* s, ssize_t got, const uv_buf_t* from);
  static void on_written(uv_write_t* w, int status);
};

void uv_client::on_read(uv_stream_t* s, ssize_t got, const uv_buf_t* from) {
  uv_client& c = of(reinterpret_cast<uv_handle_t*>(s));
  if (got == 0) return;
  if (got == UV_ENOBUFS) {
    c.paused = true;
    uv_read_stop(s);
  } else if (got < 0) {
    c.ended = true;
    uv_read_stop(s);
    if (got != UV_EOF || !c.busy) c.close();
  } else {
    c.busy = true;
    c.writing.data = &c;
    const uv_buf_t to = uv_buf_init(from->base, static_cast<unsigned>(got));
    uv_write(&c.writing, s, &to, 1, on_written);
  }
}

void uv_client::on_written(uv_write_t* w, int status) {
  uv_client& c = *static_cast<uv_client*>(w->data);
  c.busy = false;
  if (status != 0 || c.ended) return c.close();
  if (std::exchange(c.paused, false)) c.start();
}

class libuv_echo final : public listening_peer {
 public:
  explicit libuv_echo(const peer_options& o) : listening_peer(o) {
    uv_loop_init(&loop_);
    uv_tcp_init(&loop_, &acceptor_);
    uv_tcp_open(&acceptor_, ::dup(listening().get()));
    uv_poll_init(&loop_, &stop_, stop_fd());
    acceptor_.data = stop_.data = this;
    uv_listen(reinterpret_cast<uv_stream_t*>(&acceptor_), backlog, on_connection);
    uv_poll_start(&stop_, UV_READABLE, [](uv_poll_t* p, int, int) { uv_stop(p->loop); });
  }
  ~libuv_echo() override {
    const auto close = [](uv_handle_t* h, void* self) {
      const bool own = h->data == self;
      if (uv_is_closing(h) == 0) uv_close(h, own ? nullptr : uv_client::on_closed);
    };
    uv_walk(&loop_, close, this);
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }

  void run() override { uv_run(&loop_, UV_RUN_DEFAULT); }

 private:
  static constexpr int backlog = 1024;

  static void on_connection(uv_stream_t* acceptor, int status) {
    if (status != 0) return;
    auto* const c = new uv_client;
    uv_tcp_init(acceptor->loop, &c->socket);
    c->socket.data = c;
    if (uv_accept(acceptor, c->stream()) != 0) return c->close();
    uv_tcp_nodelay(&c->socket, 1);
    c->start();
  }

  uv_loop_t loop_{};
  uv_tcp_t acceptor_{};
  uv_poll_t stop_{};
};

}  // namespace

std::unique_ptr<peer_server> make_libuv_echo(const peer_options& o) { return std::make_unique<libuv_echo>(o); }

}  // namespace quintet::bench
