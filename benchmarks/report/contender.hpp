// SPDX-License-Identifier: BSL-1.0
// contender.hpp: a measured server: a model of Quintet, or a peer.
#pragma once

#include <string>

namespace quintet::bench {

struct contender {
  std::string model{};  // empty for a peer
  std::string peer{};   // empty for a model
  // Of a model only:
  std::string engine = "automatic";
  std::string handler = "callback";  // or "coroutine"
  std::string accept = "main_reactor";
  std::string allocator{};  // preloaded allocator; empty: none is chosen

  bool is_peer() const { return !peer.empty(); }
  // Returns "loop_per_thread", "single_reactor (asio, coroutine)", "loop_per_thread (reuse_port)", "loop_per_thread
  // (jemalloc)", "hand-written epoll" or "libuv". Engine, accept strategy and allocator appear only if they differ from
  // the defaults.
  std::string label() const;
};

}  // namespace quintet::bench
