// SPDX-License-Identifier: BSL-1.0
// offer: how a server gives a client the shared memory of their connection, over a Unix socket.
#pragma once

#include "segment_pool.hpp"

#include "../../options/listen_options.hpp"
#include "../channel.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace quintet::shm {

/// The server's first message to a client that has connected to offer_address(). It carries the segment's file
/// (SCM_RIGHTS). Afterwards the socket carries wake-ups only, one byte each, whose value means nothing. The socket's
/// end is the end of the peer's process or of the connection.
struct segment_offer {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t ring_size = 0;
  std::uint64_t offset = 0;                                               ///< of the segment in its file
  static constexpr std::uint64_t expected_magic = 0x314d'4853'544e'5151;  // "QQNTSHM1", as the bytes lie in memory
  static constexpr std::uint32_t current_version = 1;
};

/// Receives an offer without waiting, and maps its segment. The peer is not trusted. Returns the reason of a failure:
/// EAGAIN if the offer has not arrived, EPROTO if it is not one of this version, ECONNRESET if the server has closed.
[[nodiscard]] error_code receive_offer(int socket, segment& made) noexcept;

/// Starts connecting to offer_address() without waiting. Its socket takes descriptors until receive_offer() succeeds.
/// Returns -1 and sets `failed`, or a handle that the caller owns.
[[nodiscard]] int connect_for_offer(const address& to, error_code& failed) noexcept;
/// Returns whether the server at the other end of `socket` may be used. Without `may_be_server`: its user is this
/// process's, root, or the one that has the name `plain`, at which the client would use an ordinary socket. Anybody can
/// take that name with ".shm" appended, if it is free.
[[nodiscard]] bool is_expected_server(int socket, const address& plain,
                                      const std::function<bool(const peer_credentials&)>& may_be_server);

/// Offers shared memory to the clients of a listener.
class segment_offerer {
 public:
  /// `max_connections`: of the listener's server; see closed_segments.
  explicit segment_offerer(const shared_memory_options& how, std::size_t max_connections = 0)
      : how_(how),
        closed_(std::make_shared<closed_segments>(max_connections)),
        pool_(how.ring_size, how.connections_per_file, closed_) {}

  /// Offers a segment on an accepted socket if the peer may attach. The stream then carries its endpoint. Throws
  /// boost::system::system_error: EACCES if the peer may not attach, EBUSY if too many closed connections
  /// wait for it to leave. Throws std::bad_alloc and the exceptions of `may_attach`. After an exception the caller
  /// closes the stream by its engine.
  void offer_to(stream_handle& accepted);
  /// [any thread] Returns how many closed connections have clients that have not left.
  [[nodiscard]] std::size_t closed() const noexcept { return closed_->size(); }

 private:
  const shared_memory_options how_;
  const std::shared_ptr<closed_segments> closed_;
  segment_pool pool_;  // if connections share a file
};

/// Returns the address at which a server that listens on `at` offers shared memory: with ".shm" appended. Throws
/// config_error if that is too long for a Unix socket.
[[nodiscard]] std::string offer_address(std::string_view at);
/// Returns the options of the listener there, for a listener with connection_upgrade::shared_memory. Throws likewise.
[[nodiscard]] listen_options offer_listener_options(listen_options options);

}  // namespace quintet::shm
