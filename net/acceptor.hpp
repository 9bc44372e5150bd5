// SPDX-License-Identifier: BSL-1.0
// acceptor: a server's ordinary listeners, under the limits that they share.
#pragma once

#include <quintet/base/rate_limit.hpp>
#include <quintet/net/admissions.hpp>
#include <quintet/net/listener.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace quintet {

/// Accepts while all limits allow it. The function gets a handle that it then owns, and the handle's place; when it
/// throws, the connection is refused.
class acceptor final : private timer {
 public:
  using place_function = std::function<void(int handle, admissions::ticket place)>;

  /// The hook has to outlive it.
  acceptor(event_loop& loop, const accept_limits& limits, admissions& admitted, const log_hook& log,
           place_function place);
  ~acceptor();

  /// [before run] Binds and listens at once; throws what engine::listen does.
  listener& listen(const listen_options& options);
  /// [loop], or [before run]
  void start();
  /// [loop] Listens no more.
  void close() noexcept;

  /// [any thread]
  [[nodiscard]] std::uint64_t accepted() const noexcept;
  [[nodiscard]] std::uint64_t errors() const noexcept;
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.value(); }

 private:
  void accepted(int handle, bool has_buffers);
  void refuse(int handle, error_code reason, const address& from) noexcept;
  void there_is_room() noexcept;
  void hold_if_necessary() noexcept;
  void expired() noexcept override { hold_if_necessary(); }

  event_loop& loop_;
  accept_limits limits_;
  admissions& admitted_;
  const log_hook& log_;
  place_function place_;
  rate_limit rate_;
  bool full_ = false;  // admissions will call there_is_room()
  std::vector<std::unique_ptr<listener>> listeners_;
  counter refused_;
};

}  // namespace quintet
