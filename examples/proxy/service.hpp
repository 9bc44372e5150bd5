// SPDX-License-Identifier: BSL-1.0
// service: what all relays of a proxy share: settings, counts, and the door to the server that they are connections of.
#pragma once

#include "proxy/proxy_protocol.hpp"

#include <quintet/base/log.hpp>
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
  std::size_t pool = 0;             ///< connections to each upstream that each loop has made in advance
  std::size_t window = 256 * 1024;  ///< bytes of each direction that one end has received and the other not yet sent
  bool accept_proxy = false;        ///< clients begin with a header of the PROXY protocol
  proxy_version send = proxy_version::none;
  quintet::duration connect_timeout = std::chrono::seconds(3);  ///< of each upstream that is tried
  quintet::socket_options socket = {};                          ///< of upstreams' connections, as clients have them
  quintet::connection_limits limits = {};  ///< of both ends; the server's own are those of a client with a header
};

/// Changed once or twice in the life of a relay, and once for some hundred kilobytes.
struct totals {
  std::atomic<std::uint64_t> clients{0};       ///< that have come
  std::atomic<std::uint64_t> open{0};          ///< of these
  std::atomic<std::uint64_t> relays{0};        ///< that have got an upstream
  std::atomic<std::uint64_t> local{0};         ///< of these: on the loop of the client
  std::atomic<std::uint64_t> warm{0};          ///< of these: over a connection that was there
  std::atomic<std::uint64_t> failures{0};      ///< upstreams that were tried in vain
  std::atomic<std::uint64_t> given_up{0};      ///< clients for whom no upstream was left
  std::atomic<std::uint64_t> bad_headers{0};   ///< clients whose header was malformed, or did not come
  std::atomic<std::uint64_t> to_upstreams{0};  ///< bytes that were passed on
  std::atomic<std::uint64_t> to_clients{0};
};

/// Outlives the server.
struct service {
  settings options;
  totals counts;
  quintet::log_hook log;
  std::atomic<std::uint64_t> next_upstream{0};  ///< in turn
  std::atomic<bool> draining{false};
  quintet::event_loop* main = nullptr;
  /// server::attach(). The last is called when the connection has no place, with the reason.
  std::function<void(quintet::event_loop* near, int handle, upstream_end, std::function<void(quintet::error_code)>)>
      attach;
};

}  // namespace example::proxy
