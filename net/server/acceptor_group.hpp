// SPDX-License-Identifier: BSL-1.0
// acceptor_group: the acceptors of a server's ordinary connections, on the main loop or on each loop.
#pragma once

#include "../loop/drain_tracker.hpp"
#include "../options/server_options.hpp"
#include "acceptor.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quintet {

class acceptor_group {
 public:
  /// `loops`: the model's loops that can accept; may be empty. `admit` runs on the loop that has accepted the
  /// connection. `model`: as for the acceptor. The loops, the model, `options` and `limiter` must outlive the group.
  /// Throws config_error.
  acceptor_group(event_loop& main, std::vector<event_loop*> loops, const server_options& options,
                 connection_limiter& limiter, acceptor::admit_function admit, model_interface* model = nullptr);

  /// [before run] Binds and listens at once; returns the address. Throws as socket_services::listen(), and
  /// config_error.
  address listen(const listen_options& options);
  /// [before run] Starts all acceptors. Throws boost::system::system_error.
  void start();
  /// [loop] Main loop only. Closes each acceptor: at once on the main loop, by a post on the others. `unfinished`
  /// counts each posted close like a connection. Throws std::bad_alloc.
  void close(drain_tracker& unfinished);

  /// [any thread] Returns the strategy in use, which may differ from the option.
  [[nodiscard]] accept_strategy strategy() const noexcept { return strategy_; }
  /// [any thread] Returns one acceptor for each loop that accepts.
  [[nodiscard]] const std::vector<std::unique_ptr<acceptor>>& acceptors() const noexcept { return acceptors_; }

 private:
  void resolve_strategy();
  void fall_back(accept_strategy to, const std::string& why);
  acceptor& on(event_loop& loop);
  address listen_at(const listen_options& options);
  listener& listen_on(event_loop& loop, const listen_options& options, bool shared = false);
  address listen_on_each(listen_options options);
  void steer(std::span<const int> handles, std::span<const int> cpus, port_sharing sharing);
  address listen_on_all_at_once(const listen_options& options);

  event_loop& main_;
  const std::vector<event_loop*> loops_;
  const server_options& options_;
  accept_strategy strategy_;
  connection_limiter& limiter_;
  const acceptor::admit_function admit_;
  model_interface* const model_;
  std::vector<std::unique_ptr<acceptor>> acceptors_;
};

}  // namespace quintet
