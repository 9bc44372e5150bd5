// SPDX-License-Identifier: BSL-1.0
// peer_server.hpp: the interface and the table of the echo servers that Quintet is compared with.
#pragma once

#include "unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace quintet::bench {

/// Where a peer listens, and with how many threads if that can be chosen.
struct peer_options {
  std::string address;
  std::uint16_t port = 0;
  unsigned threads = 1;
};

/// Listens from its construction on. All have one thread, except `blocking`, `asio-shared`, `asio-separate` and
/// `tokio-echo`.
class peer_server {
 public:
  peer_server() = default;
  peer_server(const peer_server&) = delete;
  peer_server& operator=(const peer_server&) = delete;
  virtual ~peer_server() = default;

  /// Serves until stop().
  virtual void run() = 0;
  /// [any thread, signal handlers] Also before run().
  virtual void stop() noexcept = 0;
  virtual std::uint16_t port() const = 0;
};

/// Base of most peers: a listening socket, and an eventfd that becomes readable when the server must stop.
class listening_peer : public peer_server {
 public:
  /// Throws std::system_error.
  explicit listening_peer(const peer_options& o);
  void stop() noexcept final;
  std::uint16_t port() const final;

 protected:
  const unique_fd& listening() const { return listening_; }
  int stop_fd() const { return stop_.get(); }

 private:
  unique_fd listening_, stop_;
};

struct peer_kind {
  std::string_view name;
  std::string_view package;  ///< Debian's package of the required library; empty if none
  /// Null if the library was missing at build time.
  std::unique_ptr<peer_server> (*make)(const peer_options& o);
  /// Name of a program beside this one that takes this one's place in run(), if it was built; empty: none.
  std::string_view program = "";

  bool built_in() const;
  /// Returns "libuv: not built in; install libuv1-dev, then build again".
  std::string absence() const;
};

/// Returns the path of a file in the directory of this program.
std::string path_beside(std::string_view name);
/// Returns all known peers, including those not built in.
std::span<const peer_kind> all_peers();
/// Throws usage_error if the name is unknown, with a list of the peers, or if the peer is not built in.
const peer_kind& require_peer(std::string_view name);

}  // namespace quintet::bench
