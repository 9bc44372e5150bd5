// SPDX-License-Identifier: BSL-1.0
// shm_engine: serves streams over shared memory beside the sockets of another engine.
//
// Where is what: server and client (connector, client.cpp) make and take an offer in offer.cpp, by which both map a
// segment (segment.cpp; a place of a shared file: segment_pool.cpp). The socket carries the endpoint (endpoint.hpp) to
// the loop that serves it. A stream (shm_stream.cpp) then serves the endpoint's two rings. byte_ring.hpp checks each
// position that a peer, perhaps a hostile one, has written, and decides whether a sleeping peer needs wake_peer()
// (endpoint.cpp): a byte on the socket. If the peer dies, the socket ends: shm_stream::on_event() sees that, and
// shm_stream::take_end() reports it.
#pragma once

#include "../decorating_engine.hpp"
#include "shm_stream.hpp"

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace quintet::shm {

/// A decorator: passes on every handle but those that carry an endpoint. The inner engine waits for wake-ups from
/// sleeping peers, so that a loop waits for both kinds of streams in one call.
///
/// A stream is either polled in each turn, or idle: then its peer sends a wake-up. A loop that spins or has other work
/// polls streams without system calls. During a wait all streams sleep; afterwards those that were polled before are
/// awake again, so that one wake-up serves all their peers. Thread tags as in quintet::engine.
class shm_engine final : public decorating_engine<shm_stream> {
 public:
  explicit shm_engine(std::unique_ptr<quintet::engine> inner) : decorating_engine(std::move(inner)) {}

  bool poll(duration longest) override;
  void wake() noexcept override { waiter().wake(); }
  error_code add(channel& c, stream_handle&& handle) override;
  void close(stream_handle&& handle) noexcept override;

  /// [loop] For streams: polls the stream from the next turn on.
  void start_polling(shm_stream& p) noexcept;
  /// [loop] For streams: the socket has ended.
  void stop_watching(shm_stream& p) noexcept { (void)waiter().remove(p); }

 private:
  [[nodiscard]] int descriptor() noexcept override;
  stream_handle detach(shm_stream& p) noexcept override;

  [[nodiscard]] quintet::engine& waiter() noexcept { return substitute_in_use_ ? *substitute_ : inner(); }
  error_code add_port(stream_channel& c, stream_handle&& stream);
  bool poll_with_chores(duration longest);
  void use_substitute(bool on) noexcept;
  bool poll_streams();
  bool wait(duration longest);
  bool poll_sockets(duration longest);
  [[nodiscard]] bool sockets_are_due() noexcept;
  [[nodiscard]] bool has_done_much() noexcept;
  bool serve_events(shm_stream& p);
  void receive(shm_stream& p);
  void drop_idle() noexcept;
  [[nodiscard]] bool sleep_streams() noexcept;
  void wake_streams() noexcept;

  // Waits instead of an inner engine that can only wait for its own stream.
  std::unique_ptr<quintet::engine> substitute_;
  std::atomic<bool> substitute_in_use_{false};
  std::vector<shm_stream*> polled_;   // nullptr: removed meanwhile
  bool streams_sleep_ = false;        // the peers of polled_ send wake-ups
  std::unique_ptr<char[]> received_;  // shared by all streams
  std::size_t next_ = 0;              // the stream in polled_ at which the next turn begins
  // Since the last look at the sockets.
  unsigned turns_ = 0, served_ = 0;
  std::size_t bytes_ = 0;  // received from rings
  time_point sockets_polled_at_{};
};

}  // namespace quintet::shm
