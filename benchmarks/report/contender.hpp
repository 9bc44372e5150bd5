// SPDX-License-Identifier: BSL-1.0
// contender.hpp: a server that is measured: one of ours, or a peer.
#pragma once

#include <string>

namespace quintet::bench {

struct contender {
  std::string model{};  // empty for a peer
  std::string peer{};   // empty for ours
  // Of ours alone:
  std::string engine = "automatic";
  std::string handler = "callback";  // or "coroutine"
  std::string accept = "main_reactor";
  std::string allocator{};  // that it is told to use instead of its own; empty: it is not told

  bool is_peer() const { return !peer.empty(); }
  // "loop_per_thread", "single_reactor (asio, coroutine)", "loop_per_thread (reuse_port)",
  // "loop_per_thread (jemalloc)", "hand-written epoll", "libuv"; the engine, who accepts and the allocator are told
  // only if they are not the usual ones.
  std::string label() const;
};

}  // namespace quintet::bench
