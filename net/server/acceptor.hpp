// SPDX-License-Identifier: BSL-1.0
// acceptor: the listeners of one loop, under limits that several loops can share.
#pragma once

#include "../names/address_prefix.hpp"
#include "../options/limits.hpp"
#include "../secure/handshake_figures.hpp"
#include "connection_limiter.hpp"
#include "listener.hpp"
#include "proxy_reader.hpp"
#include "refused_connection.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace quintet {

namespace shm {
class segment_offerer;
}
class model_interface;
class securing_queue;

/// Accepts while all limits allow it. Calls `admit` with the loop, a stream that `admit` then owns, and the permit. If
/// `admit` throws, it has left the stream, and the acceptor refuses and closes the connection.
class acceptor final : private loop_member, private timer {
 public:
  using admit_function = std::function<void(event_loop& at, stream_handle&& stream, connection_permit permit)>;

  /// `model`: has threads for handshakes; null: the loop computes them. The loop, the model, `limiter` and `log` must
  /// outlive the acceptor.
  acceptor(event_loop& loop, const accept_limits& limits, const memory_limits& memory, connection_limiter& limiter,
           const log_hook& log, admit_function admit, model_interface* model = nullptr);
  ~acceptor();

  /// [before run] Binds and listens at once. Throws as socket_services::listen().
  listener& listen(const listen_options& options, bool shared = false);
  /// [loop], or [before run] Starts all listeners. Throws boost::system::system_error.
  void start();
  /// [loop] Admits connections from the backlog as far as the limits allow, closes the others, and stops listening.
  void close() noexcept;

  /// [any thread] Return the loop, and the counts of accepted connections, errors and refused connections.
  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }
  [[nodiscard]] std::uint64_t accepted() const noexcept;
  [[nodiscard]] std::uint64_t errors() const noexcept;
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.value(); }
  /// [any thread] Returns how many connections the kernel received on this loop's CPU; 0 if the loop is not pinned.
  [[nodiscard]] std::uint64_t local() const noexcept { return local_.value(); }
  /// [any thread] Adds the counts of handshakes.
  void add_to(handshake_statistics& sum) const noexcept;

 private:
  /// What a listener's options say of its connections.
  struct origin {
    [[nodiscard]] bool trusts(const address& from) const noexcept;
    bool has_buffers;                               // socket buffers are set
    std::shared_ptr<shm::segment_offerer> offerer;  // null: ordinary sockets
    std::function<bool(const peer_credentials&)> may_connect;
    std::function<std::unique_ptr<transport>(std::unique_ptr<transport> below)> carry;
    proxy_options proxy;
    std::vector<address_prefix> proxies;  // empty: no header is read
    securing_queue* secured;              // null: no handshake
    bool may_be_plain;                    // a handshake only for those that begin with one
  };
  class proxied_connection;
  class secured_connection;
  /// A connection that the kernel has accepted and that waits for the limits. Usually at most one waits, because
  /// place_waiting() then holds the listeners. An engine that accepts ahead can add more.
  struct pending_connection {
    stream_handle stream;
    std::shared_ptr<const origin> listener;
  };
  void accepted(pending_connection a);
  [[nodiscard]] bool must_wait() noexcept;
  [[nodiscard]] bool try_place(pending_connection& a) noexcept;
  void place(pending_connection& a, connection_permit permit);
  void await_header(pending_connection& a, connection_permit permit);
  void admit(pending_connection& a, connection_permit permit);
  void secure(pending_connection& a, connection_permit permit);
  void count_locality(int handle) noexcept;
  [[nodiscard]] bool holds_when_full() const noexcept { return !limits_.refuse_when_full; }
  [[nodiscard]] bool is_refused_when_full() noexcept;
  [[nodiscard]] address peer_of(const pending_connection& a) const;
  void refuse(pending_connection& a, error_code reason) noexcept;
  void close_with(std::string_view words, pending_connection& a) noexcept;
  void place_waiting() noexcept;
  void drop_waiting() noexcept;
  void abort() noexcept override;
  void expired() noexcept override { place_waiting(); }

  event_loop& loop_;
  const accept_limits limits_;
  const memory_limits memory_;
  connection_limiter& limiter_;
  const log_hook& log_;
  admit_function admit_;
  model_interface* const model_;
  std::vector<pending_connection> waiting_;
  boost::intrusive::list<proxy_reader, boost::intrusive::constant_time_size<false>> headers_;  // incomplete ones
  boost::intrusive::list<refused_connection, boost::intrusive::constant_time_size<false>> refused_ones_;
  std::vector<std::unique_ptr<securing_queue>> secured_;
  bool started_ = false;
  std::vector<std::unique_ptr<listener>> listeners_;
  counter refused_, local_;
};

}  // namespace quintet
