// SPDX-License-Identifier: BSL-1.0
// engine: serves streams over shared memory beside the sockets of another engine.
//
// Where is what: server and client (connector, client.cpp) make and take an offer in offer.cpp, by which both map a
// segment (segment.cpp; a place of a shared file: segment_pool.cpp). The socket carries the endpoint (endpoint.hpp) to
// the loop that serves it. A port (port.cpp) then serves the endpoint's two rings. ring.hpp checks each position that a
// peer, perhaps a hostile one, has written, and decides whether a sleeping peer needs wake_peer() (endpoint.cpp): a
// byte on the socket. If the peer dies, the socket ends: port::on_event() sees that, and port::take_end() reports it.
#pragma once

#include "../embedding.hpp"
#include "../engine.hpp"
#include "../handle_table.hpp"
#include "port.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace quintet::shm {

/// A decorator: passes on every handle but those that carry an endpoint. The inner engine waits for wake-ups from
/// sleeping peers, so that a loop waits for both kinds of streams in one call.
///
/// A port is either looked at in each turn, or idle: then its peer sends a wake-up. A loop that spins or has other work
/// looks at ports without system calls. During a wait all ports sleep; afterwards those that were looked at before are
/// awake again, so that one wake-up serves all their peers. Thread tags as in quintet::engine.
class engine final : public quintet::engine, private engine_embedding {
 public:
  explicit engine(std::unique_ptr<quintet::engine> inner);

  void prepare() override;
  bool poll(duration longest) override;
  void wake() noexcept override { waiter().wake(); }
  error_code add(channel& c, stream_handle&& handle) override;
  stream_handle remove(channel& c) noexcept override;
  error_code set_reading(channel& c, bool on) noexcept override;
  send_result send(stream_channel& c, bytes data) noexcept override;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override;
  [[nodiscard]] arrival arrived(stream_channel& c) noexcept override;
  [[nodiscard]] bool has_more(stream_channel& c, const arrival& by) noexcept override;
  [[nodiscard]] std::size_t unsent(stream_channel& c) noexcept override;
  void flush(flush_extent extent) noexcept override { inner_->flush(extent); }
  void shutdown_send(stream_channel& c) noexcept override;
  void close(stream_handle&& handle) noexcept override;

  /// [loop] For ports: looks at the port in the next turn.
  void look_at(port& p) noexcept;
  /// [loop] For ports: the socket has ended.
  void stop_watching(port& p) noexcept { (void)waiter().remove(p); }

 private:
  // The embedding. A foreign loop's wait is a wait like any other.
  [[nodiscard]] int descriptor() noexcept override;
  [[nodiscard]] boost::asio::io_context* context() noexcept override { return waiter().embedding()->context(); }
  void abandon() noexcept override { waiter().embedding()->abandon(); }

  [[nodiscard]] quintet::engine& waiter() noexcept { return substitute_in_use_ ? *substitute_ : *inner_; }
  [[nodiscard]] port* port_of(const channel& c) const noexcept { return ports_.find(c.handle()); }
  error_code add_port(stream_channel& c, stream_handle&& stream);
  void reserve_for_port(int handle);
  void use_substitute(bool on) noexcept;
  bool look();
  bool wait(duration longest);
  bool look_at_sockets(duration longest);
  [[nodiscard]] bool sockets_are_due() noexcept;
  [[nodiscard]] bool has_done_much() noexcept;
  bool serve(port& p);
  void receive(port& p);
  void drop_idle() noexcept;
  [[nodiscard]] bool sleep_ports() noexcept;
  void wake_ports() noexcept;

  const std::unique_ptr<quintet::engine> inner_;
  // Waits instead of an inner engine that can only wait for its own stream.
  std::unique_ptr<quintet::engine> substitute_;
  std::atomic<bool> substitute_in_use_{false};
  handle_table<port> ports_;
  std::size_t port_count_ = 0;
  std::vector<port*> looked_at_;                // nullptr: removed meanwhile
  bool ports_sleep_ = false;                    // the peers of looked_at_ send wake-ups
  std::vector<std::unique_ptr<port>> removed_;  // until poll() ends
  std::unique_ptr<char[]> received_;            // shared by all ports
  std::size_t next_ = 0;                        // the port in looked_at_ at which the next turn begins
  // Since the last look at the sockets.
  unsigned turns_ = 0, served_ = 0;
  std::size_t bytes_ = 0;  // received from rings
  time_point looked_{};
};

}  // namespace quintet::shm
