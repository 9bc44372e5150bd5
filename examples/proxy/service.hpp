// SPDX-License-Identifier: BSL-1.0
// service: the state that all relays of a proxy share: settings, counters, and access to the server.
#pragma once

#include <quintet/base/framing/proxy_protocol.hpp>

#include <quintet/base/log.hpp>
#include <quintet/base/rate_limit.hpp>
#include <quintet/net/connector.hpp>
#include <quintet/net/event_loop.hpp>
#include <quintet/threadmodels/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace example::proxy {

class upstream_end;

struct settings {
  std::vector<quintet::destination> upstreams;
  std::size_t pool = 0;             ///< connections to each upstream that each loop makes in advance
  std::size_t window = 256 * 1024;  ///< bytes of each direction that are received but not yet sent
  bool accept_proxy = false;        ///< clients begin with a PROXY header
  bool debug = false;               ///< a line of the log for each client
  quintet::proxy_version send = quintet::proxy_version::none;
  quintet::duration connect_timeout = std::chrono::seconds(3);  ///< per attempt
  quintet::socket_options socket = {};  ///< of connections to upstreams, equal to those of clients
};

/// Relaxed counters, shared by all loops: a relay changes them only a few times, and once per half window.
struct totals {
  std::atomic<std::uint64_t> clients{0};       ///< accepted
  std::atomic<std::uint64_t> open{0};          ///< clients now
  std::atomic<std::uint64_t> relays{0};        ///< clients that have got an upstream
  std::atomic<std::uint64_t> local{0};         ///< relays with both ends on one loop
  std::atomic<std::uint64_t> warm{0};          ///< upstream connections taken from the pool
  std::atomic<std::uint64_t> failures{0};      ///< failed attempts to connect
  std::atomic<std::uint64_t> unserved{0};      ///< clients closed because they got no upstream
  std::atomic<std::uint64_t> bad_headers{0};   ///< clients whose PROXY header was malformed or missing
  std::atomic<std::uint64_t> to_upstreams{0};  ///< bytes forwarded
  std::atomic<std::uint64_t> to_clients{0};
};

/// Must outlive the server.
struct service {
  settings options;
  totals counts;
  quintet::log_hook log;
  quintet::log_limit no_upstream_lines;
  std::atomic<std::uint64_t> next_upstream{0};  ///< for round robin
  std::atomic<bool> draining{false};
  quintet::event_loop* main = nullptr;
  /// Calls server::attach(). The last argument is called with the reason if the connection is refused.
  std::function<void(quintet::event_loop* near, quintet::stream_handle, upstream_end,
                     std::function<void(quintet::error_code)> refused)>
      attach;
};

}  // namespace example::proxy
