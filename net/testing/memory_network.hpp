// SPDX-License-Identifier: BSL-1.0
// memory_network: listeners and streams in memory, with an engine for them, for loops that tests drive by hand.
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

namespace quintet::testing {

/// A network in one thread that behaves as badly as a real one may; one seed always gives the same behaviour. Engines
/// dispatch ready connections in random order, and receive bytes cut in random places. A send accepts all bytes, a part
/// or nothing. The network must outlive its engines and loops. Not synchronised: use it on one thread.
class memory_network {
 public:
  /// The seed decides all random choices.
  explicit memory_network(std::uint64_t seed) : random_(seed) {}
  memory_network(const memory_network&) = delete;
  memory_network& operator=(const memory_network&) = delete;

  /// Makes an engine for this network's handles. Its poll() never waits.
  [[nodiscard]] std::unique_ptr<engine> make_engine();

  // The functions of a test's client. Their handles are of the same kind as the engine's.
  /// Connects to the first IP listener on this port. Returns a handle, or -1 if none listens or its backlog is full.
  int connect(std::uint16_t port);
  /// Connects to the listener with an equal address, of any kind. Returns as above.
  int connect(const address& to);
  /// Sends all bytes, regardless of `window`. Drops them if the other side is closed.
  void send(int handle, bytes data);
  /// Receives at most `most` bytes of those that have arrived.
  [[nodiscard]] std::string receive(int handle, std::size_t most = std::string::npos);
  /// Returns how many bytes receive() can return.
  [[nodiscard]] std::size_t waiting(int handle) const;
  /// Returns how many sent bytes the other side has not received yet.
  [[nodiscard]] std::size_t unread(int handle) const;
  void shutdown_send(int handle);
  void close(int handle);
  /// Closes the handle; the other side gets an error in both directions.
  void reset(int handle);
  /// Returns whether the other side has finished sending, and this side has received all bytes.
  [[nodiscard]] bool at_end(int handle) const;
  /// Returns whether the other side has reset the connection.
  [[nodiscard]] bool was_reset(int handle) const;
  /// Makes the connects of loops to `at` wait, as behind a firewall that drops packets, until called with `on` false.
  void set_silent(const address& at, bool on);
  /// Returns the targets of the loops' connection attempts, in order.
  [[nodiscard]] const std::vector<address>& attempts() const noexcept { return attempts_; }
  /// Returns the number of open handles: 0 after a complete clean-up.
  [[nodiscard]] std::size_t open_handles() const noexcept { return streams_.size() + listeners_.size(); }
  /// Restarts the random behaviour with this seed.
  void reseed(std::uint64_t seed) { random_.seed(seed); }
  /// The bytes in flight in one direction at which an engine's send accepts no more.
  std::size_t window = 16 * 1024;
  /// The room in the window at which an engine reports that a stream can send. A send needs less, as a kernel's does.
  std::size_t least_room = 1;
  /// A send accepts as many bytes as there is room for, as a kernel does; else a random part of them.
  bool takes_all = false;
  /// The maximum number of ready channels that one poll() dispatches.
  std::size_t most_ready = std::string::npos;

 private:
  friend class memory_engine;
  friend class memory_sockets;
  struct stream {
    int peer = -1;  // -1: the other side is closed
    std::string arrived;
    bool ended = false;        // nothing will arrive any more
    bool reset = false;        // by the other side
    bool resets = false;       // closing this side resets the other one
    address connecting = {};   // of kind none: not being connected
    address former_peer = {};  // of the closed other side
    address accepted_at = {};  // of the listener; of kind none: this side is the client
  };
  struct listening {
    address at;
    std::size_t backlog = 0;
    std::deque<int> waiting;
  };
  listening* find_listening(const std::function<bool(const address&)>& is_meant);
  /// Connects `client` to a new handle that waits to be accepted. Returns false if `at` is null or its backlog is full.
  bool establish(int client, listening* at);
  int connect(listening* at);
  [[nodiscard]] bool is_silent(const address& at) const;
  /// Returns a random number from 1 to `most`.
  std::size_t some(std::size_t most) { return std::uniform_int_distribution<std::size_t>(1, most)(random_); }

  /// Returns how many of `most` bytes a send accepts: mostly all, sometimes a part, sometimes none.
  std::size_t portion(std::size_t most);

  std::mt19937_64 random_;
  int next_handle_ = 0;
  std::uint16_t next_port_ = 49152;
  std::map<int, stream> streams_;  // ordered, so that runs of one seed are equal
  std::map<int, listening> listeners_;
  std::vector<address> attempts_, silent_;
  memory_sockets sockets_{*this};
};

}  // namespace quintet::testing
