// SPDX-License-Identifier: BSL-1.0
// shm_stream: sends to and receives from the rings, and reports the end.
#include "shm_stream.hpp"

#include "shm_engine.hpp"

#include <cerrno>

namespace quintet::shm {

// A peer that is awake polls the ring without a wake-up.
void shm_stream::publish(std::size_t count) noexcept {
  if (count > 0 && local_end().out.commit(count)) wake_peer(socket_);
}

engine::send_result shm_stream::result(std::size_t sent, std::size_t offered) noexcept {
  if (local_end().out.is_corrupt()) return {sent, EPROTO};
  if (sent < offered) {
    if (!local_end().out.wait_for_room()) owner_.start_polling(*this);  // room or corrupt since
  }
  return {sent};
}

// As long as input of the dead peer waits, replies to it go nowhere, as in a socket that has not learnt of the end.
// An error here would end the connection before the handler has got that input.
engine::send_result shm_stream::send_to_nobody(std::size_t offered) const noexcept {
  if (!end_reported_) return {offered};
  return {0, EPIPE};
}

engine::send_result shm_stream::send(bytes data) noexcept {
  if (peer_ended_) return send_to_nobody(data.size());
  const std::size_t sent = local_end().out.copy_in(0, data);
  publish(sent);
  return result(sent, data.size());
}

// Publishes all pieces at once: the peer sees them as one message.
engine::send_result shm_stream::send(output_pieces pieces) noexcept {
  if (peer_ended_) return send_to_nobody(size_of(pieces));
  std::size_t sent = 0, offered = 0;
  for (const iovec& piece : pieces) {
    if (sent == offered)
      sent += local_end().out.copy_in(sent, {static_cast<const char*>(piece.iov_base), piece.iov_len});
    offered += piece.iov_len;
  }
  publish(sent);
  return result(sent, offered);
}

void shm_stream::shutdown_send() noexcept {
  if (local_end().out.finish(stream_end::finished)) wake_peer(socket_);
}

error_code shm_stream::set_reading(bool on) noexcept {
  reading_ = on && !end_reported_;
  if (on) owner_.start_polling(*this);
  return {};
}

std::size_t shm_stream::receive(std::span<char> place) noexcept {
  const std::size_t count = local_end().in.copy_out(place);
  if (local_end().in.release(count)) wake_peer(socket_);
  return count;
}

bool shm_stream::take_sendable() noexcept {
  return local_end().out.end_wait() || (peer_ended_ && local_end().out.cancel_wait());
}

// A paused stream learns of a reset, not of an orderly end: with sockets it is the same.
bool shm_stream::take_end(error_code& reason) noexcept {
  const stream_end how = local_end().in.producer_end();
  const bool learns = reading_ || (peer_ended_ && how != stream_end::finished);
  if (end_reported_ || !learns || local_end().in.available() > 0) return false;
  if (local_end().in.is_corrupt())
    reason = system_error_code(EPROTO);
  else if (how == stream_end::reset || (how == stream_end::none && peer_ended_))
    reason = system_error_code(ECONNRESET);
  else if (how == stream_end::none)
    return false;
  end_reported_ = true;
  reading_ = false;
  return true;
}

bool shm_stream::has_work() noexcept {
  return (reading_ && (peer_ended_ || local_end().in.has_news())) ||
         (local_end().out.waits() && local_end().out.has_news());
}

bool shm_stream::has_been_idle(duration longest) noexcept {
  const time_point now = clock::system().now();
  if (idle_since_ == time_point::min()) idle_since_ = now;
  if (now - idle_since_ >= longest) return true;
  empty_polls_ = 0;  // so that the clock is read once in so many polls
  return false;
}

void shm_stream::on_event() {
  if (take_wakes(socket_)) {
    peer_ended_ = true;
    owner_.stop_watching(*this);
  }
  owner_.start_polling(*this);
}

}  // namespace quintet::shm
