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

  bool is_peer() const { return !peer.empty(); }
  // "loop_per_thread", "single_reactor (asio, coroutine)", "loop_per_thread (reuse_port)", "hand-written epoll",
  // "libuv"; the engine and who accepts are told only if they are not the usual ones.
  std::string label() const;
};

}  // namespace quintet::bench
