// SPDX-License-Identifier: BSL-1.0
// shm_stream: a stream over shared memory that an engine serves.
#pragma once

#include "../engine.hpp"
#include "endpoint.hpp"

#include <cstdint>
#include <utility>

namespace quintet::shm {

class shm_engine;

/// The rings of one stream, and its socket as a channel of the inner engine: the peer wakes a sleeping loop by a byte,
/// and the socket's end is the peer's end. All functions: [loop].
class shm_stream final : public event_channel {
 public:
  shm_stream(shm_engine& owner, stream_channel& served, stream_handle&& stream) noexcept
      : owner_(owner), served_(&served), socket_(stream.get()), stream_(socket_, stream.take_carried()) {}

  /// Returns nullptr after the stream was removed. The engine then destroys the stream in its next turn.
  [[nodiscard]] stream_channel* served() const noexcept { return served_; }
  /// Gives the stream back: it is removed.
  [[nodiscard]] stream_handle release() noexcept {
    served_ = nullptr;
    return std::move(stream_);
  }

  [[nodiscard]] engine::send_result send(output_pieces pieces) noexcept;
  [[nodiscard]] engine::send_result send(bytes data) noexcept;
  void shutdown_send() noexcept;
  /// Copies received bytes to `place` and makes room for more.
  [[nodiscard]] std::size_t receive(std::span<char> place) noexcept;
  /// Returns how many sent bytes the peer has not taken.
  [[nodiscard]] std::size_t unsent() noexcept { return local_end().out.unread(); }
  [[nodiscard]] arrival arrived() noexcept { return {.mark = local_end().in.unread()}; }
  [[nodiscard]] static bool has_more(const arrival& by) noexcept { return by.delivered < by.mark; }

  /// Nothing is received after the end.
  error_code set_reading(bool on) noexcept;
  [[nodiscard]] bool can_receive() noexcept { return reading_ && local_end().in.available() > 0; }
  /// Whether the stream waits for room, and a send would now find room or an error. The caller then calls
  /// on_sendable().
  [[nodiscard]] bool take_sendable() noexcept;
  /// Whether nothing more will arrive, and all that arrived was received. The caller then calls on_receive_end() with
  /// `reason`. True once.
  [[nodiscard]] bool take_end(error_code& reason) noexcept;
  /// Whether the peer's process has ended while the stream is not read, and its input waits. The caller then calls
  /// on_peer_finished(). True once.
  [[nodiscard]] bool take_unread_end() noexcept {
    return !reading_ && peer_ended_ && !end_reported_ && !std::exchange(unread_end_told_, true);
  }
  /// Asks the peer for a wake-up. The caller then makes a fence (std::memory_order_seq_cst), and does not wait if
  /// has_work() is true.
  void announce_sleep() noexcept {
    local_end().out.announce_wait();
    if (reading_) local_end().in.announce_sleep();
  }
  void stay_awake() noexcept {
    if (reading_) local_end().in.stay_awake();
  }
  [[nodiscard]] bool has_work() noexcept;
  /// Counts consecutive polls that found nothing.
  void note_poll(bool worked) noexcept {
    if (worked) idle_since_ = time_point::min();
    empty_polls_ = worked ? 0 : empty_polls_ + 1;
  }
  [[nodiscard]] unsigned empty_polls() const noexcept { return empty_polls_; }
  /// Whether all polls have found nothing since a call that was so long ago. The first call after a poll that
  /// found something begins the time. Ask after many polls: each call reads the clock.
  [[nodiscard]] bool has_been_idle(duration longest) noexcept;

  /// The place in the engine's list of streams to poll; not_listed if the stream is not in it.
  static constexpr std::size_t not_listed = ~std::size_t{0};
  std::size_t listed_at = not_listed;

 private:
  [[nodiscard]] endpoint& local_end() noexcept { return static_cast<carried_endpoint*>(stream_.carried())->end; }
  void on_event() override;
  void publish(std::size_t count) noexcept;
  [[nodiscard]] engine::send_result send_to_nobody(std::size_t offered) const noexcept;
  engine::send_result result(std::size_t sent, std::size_t offered) noexcept;

  shm_engine& owner_;
  stream_channel* served_;
  const int socket_;
  stream_handle stream_;  // with the endpoint
  bool reading_ = true;
  bool peer_ended_ = false;    // its process has ended, or closed the connection
  bool end_reported_ = false;  // by on_receive_end()
  bool unread_end_told_ = false;
  unsigned empty_polls_ = 0;
  time_point idle_since_ = time_point::min();
};

}  // namespace quintet::shm
