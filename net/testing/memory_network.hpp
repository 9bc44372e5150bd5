// SPDX-License-Identifier: BSL-1.0
// memory_network: listeners and streams in memory, with an engine over them, for loops that are driven by hand.
#pragma once

#include "../engine/engine.hpp"
#include "memory_sockets.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace quintet {

/// A network in one thread that behaves as badly as a real one may, and the same way each time for one seed: ready
/// connections come in random order, bytes arrive cut in random places, and a send takes all of what it is given, or a
/// part of it, or nothing.
/// It must outlive the engines and loops made on it. Not synchronised.
class memory_network {
 public:
  explicit memory_network(std::uint64_t seed) : random_(seed) {}
  memory_network(const memory_network&) = delete;
  memory_network& operator=(const memory_network&) = delete;

  /// An engine whose handles are this network's. Its poll() never waits.
  [[nodiscard]] std::unique_ptr<engine> make_engine();

  // The other side: what a test's client does. Handles are as from the engine.
  /// Connects to the first that listens on this port; -1 when nobody does or its backlog is full.
  int connect(std::uint16_t port);
  /// The same, for an address of any kind, which is compared as it was given to the listener.
  int connect(const address& to);
  void send(int handle, bytes data);
  /// What has arrived and was not received yet, but no more than that.
  [[nodiscard]] std::string receive(int handle, std::size_t most = std::string::npos);
  /// How many bytes these are; and of what this side has sent, how many the other one has not received yet.
  [[nodiscard]] std::size_t waiting(int handle) const;
  [[nodiscard]] std::size_t unread(int handle) const;
  void shutdown_send(int handle);
  void close(int handle);
  /// Ends both directions with an error at the other side.
  void reset(int handle);
  /// Whether the other side has finished sending, and everything it sent has been received.
  [[nodiscard]] bool at_end(int handle) const;
  /// Whether the other side has reset the connection.
  [[nodiscard]] bool was_reset(int handle) const;
  /// Whoever connects there waits for ever, as when a firewall drops what comes; until it answers again.
  void set_silent(const address& at, bool on);
  /// Where loops of this network have begun to connect to, in this order.
  [[nodiscard]] const std::vector<address>& attempts() const noexcept { return attempts_; }
  /// Handles that are open: none when everybody has cleaned up.
  [[nodiscard]] std::size_t open_handles() const noexcept { return streams_.size() + listeners_.size(); }
  /// From now on it behaves as this seed says.
  void reseed(std::uint64_t seed) { random_.seed(seed); }
  /// Bytes that may be on their way in one direction before a sender is held up.
  std::size_t window = 16 * 1024;
  /// A send takes all that there is room for, as a kernel does; else only some of it.
  bool takes_all = false;
  /// A poll() of an engine dispatches at most so many that are ready, and leaves the others for the next.
  std::size_t most_ready = std::string::npos;

 private:
  friend class memory_engine;
  friend class memory_sockets;
  struct stream {
    int peer = -1;  // -1: the other side is closed
    std::string arrived;
    bool ended = false;       // nothing will arrive any more
    bool reset = false;       // by the other side
    bool resets = false;      // the other side, when this one closes
    address connecting = {};  // of kind none: it is connected, or was
  };
  struct listening {
    address at;
    std::size_t backlog = 0;
    std::deque<int> waiting;
  };
  listening* find_listening(const std::function<bool(const address&)>& is_meant);
  /// Connects two handles, the second of which is new and waits to be accepted; false when nobody listens.
  bool establish(int client, listening* at);
  int connect(listening* at);
  [[nodiscard]] bool is_silent(const address& at) const;
  /// From 1 to `most`.
  std::size_t some(std::size_t most) { return std::uniform_int_distribution<std::size_t>(1, most)(random_); }

  /// What a send takes: mostly all that there is room for, sometimes a part of it, sometimes nothing.
  std::size_t portion(std::size_t most);

  std::mt19937_64 random_;
  int next_handle_ = 0;
  std::uint16_t next_port_ = 49152;
  std::map<int, stream> streams_;  // ordered, so that one seed gives one run
  std::map<int, listening> listeners_;
  std::vector<address> attempts_, silent_;
  memory_sockets sockets_{*this};
};

}  // namespace quintet
