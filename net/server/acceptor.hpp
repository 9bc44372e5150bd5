// SPDX-License-Identifier: BSL-1.0
// acceptor: one loop's ordinary listeners, under the limits that all loops of a server share.
#pragma once

#include "../options/limits.hpp"
#include "connection_limiter.hpp"
#include "listener.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace quintet {

/// Accepts while all limits allow it. The function gets the loop, a handle that it then owns, and the handle's place;
/// when it throws, the connection is refused.
class acceptor final : private loop_member, private timer {
 public:
  using place_function = std::function<void(event_loop& at, int handle, connection_permit place)>;

  /// The hook has to outlive it.
  acceptor(event_loop& loop, const accept_limits& limits, const memory_limits& memory, connection_limiter& admitted,
           const log_hook& log, place_function place);
  ~acceptor();

  /// [before run] Binds and listens at once; throws what socket_services::listen does.
  listener& listen(const listen_options& options, bool shared = false);
  /// [loop], or [before run]
  void start();
  /// [loop] Lets in those who wait already, as far as the limits allow it, and listens no more.
  void close() noexcept;

  /// [any thread]
  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }
  [[nodiscard]] std::uint64_t accepted() const noexcept;
  [[nodiscard]] std::uint64_t errors() const noexcept;
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.value(); }
  /// [any thread] Of those accepted: received by the kernel on the CPU of this loop. Only for one that stays on a CPU.
  [[nodiscard]] std::uint64_t local() const noexcept { return local_.value(); }

 private:
  /// Accepted by the kernel, and not let in yet. There is more than one only where several loops, or an engine that
  /// accepts ahead, took the last place at once.
  struct arrival {
    int handle;
    bool has_buffers;  // its listener names them
  };
  void accepted(arrival a);
  [[nodiscard]] bool has_to_wait() noexcept;
  [[nodiscard]] bool let_in(const arrival& a) noexcept;
  void count_locality(int handle) noexcept;
  void refuse(int handle, error_code reason, const address& from) noexcept;
  void go_on() noexcept;
  void drop_waiting() noexcept;
  void abort() noexcept override;
  void expired() noexcept override { go_on(); }

  event_loop& loop_;
  const accept_limits limits_;
  const memory_limits memory_;
  connection_limiter& admitted_;
  const log_hook& log_;
  place_function place_;
  std::vector<arrival> waiting_;
  bool started_ = false;
  std::vector<std::unique_ptr<listener>> listeners_;
  counter refused_, local_;
};

}  // namespace quintet
