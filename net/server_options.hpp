// SPDX-License-Identifier: BSL-1.0
// server_options: where a server listens, and its limits.
#pragma once

#include <quintet/base/clock.hpp>
#include <quintet/base/log.hpp>
#include <quintet/net/accept_limits.hpp>
#include <quintet/net/connection_limits.hpp>
#include <quintet/net/engine.hpp>
#include <quintet/net/listen_options.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace quintet {

struct server_options {
  std::vector<listen_options> listen = default_listeners();  ///< at least one that is not for the priority lane
  accept_limits accepting = {};                              ///< how many connections, from whom, how fast
  connection_limits limits = {};                             ///< of each connection, unless it changes its own
  /// Output waiting in all connections together; the one that exceeds it ends with errc::output_overflow.
  std::size_t max_output_total = std::size_t{4} << 30U;
  log_hook log = {};  ///< what the server has to say; nothing, unless there is one

  /// For loops that are driven by hand: the main loop's engine and clock.
  std::function<std::unique_ptr<engine>()> make_engine = make_default_engine;
  const clock* time = &clock::system();
};

/// Throws config_error.
void validate(const server_options& options);

}  // namespace quintet
