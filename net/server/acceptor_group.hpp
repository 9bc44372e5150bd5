// SPDX-License-Identifier: BSL-1.0
// acceptor_group: who accepts a server's ordinary connections: the main loop for all, or each loop for itself.
#pragma once

#include "../loop/drainage.hpp"
#include "../options/server_options.hpp"
#include "acceptor.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quintet {

class acceptor_group {
 public:
  /// `loops`: those that can accept for themselves; none, where the model has none. The function gets connections on
  /// the loop that has accepted them. All that is given by reference has to outlive it. Throws config_error.
  acceptor_group(event_loop& main, std::vector<event_loop*> loops, const server_options& options,
                 connection_limiter& admitted, acceptor::place_function place);

  /// [before run] Binds and listens at once; returns where. Throws what socket_services::listen does, and config_error.
  address listen(const listen_options& options);
  /// [before run]
  void start();
  /// [loop] The main one. Lets in those who wait already, and listens no more; on the other loops a little later, and
  /// until then `unfinished` counts them as it counts connections.
  void close(drainage& unfinished);

  /// [any thread] What is in use, which may be another one than was asked for.
  [[nodiscard]] accept_strategy strategy() const noexcept { return strategy_; }
  /// [any thread] One for each loop that accepts.
  [[nodiscard]] const std::vector<std::unique_ptr<acceptor>>& acceptors() const noexcept { return acceptors_; }

 private:
  void settle_strategy();
  void fall_back(accept_strategy to, const std::string& why);
  acceptor& on(event_loop& loop);
  listener& listen_on(event_loop& loop, const listen_options& options, bool shared = false);
  address listen_on_each(listen_options options);
  address listen_on_all_at_once(const listen_options& options);

  event_loop& main_;
  const std::vector<event_loop*> loops_;
  const server_options& options_;
  accept_strategy strategy_;
  connection_limiter& admitted_;
  const acceptor::place_function place_;
  std::vector<std::unique_ptr<acceptor>> acceptors_;
};

}  // namespace quintet
