// SPDX-License-Identifier: BSL-1.0
// client: shared_memory_client, a blocking client for programs without an event loop.
#pragma once

#include "../../../base/clock.hpp"
#include "../../options/listen_options.hpp"
#include "../passed_descriptors.hpp"
#include "endpoint.hpp"

#include <chrono>
#include <functional>
#include <span>
#include <string_view>

namespace quintet {

/// One connection to a server on this host whose listener has `upgrade = shared_memory`. The same bytes as over a
/// socket, without a system call while both sides are awake. For one thread at a time.
///
///     quintet::shared_memory_client db("unix:/run/kv.sock");
///     db.send("GET a\r\n");
///     while (db.wait()) { const quintet::bytes answer = db.peek(); ...; db.release(answer.size()); }
///
/// Neither side copies when the caller uses reserve() with commit(), and peek() with release(). The server can change
/// bytes that peek() has returned until release(): a client that does not trust its server copies them first.
class shared_memory_client {
 public:
  /// Time limits, and whom to trust.
  struct options {
    /// Of connecting: a place in the server's backlog, and its offer.
    duration timeout = std::chrono::seconds(10);
    /// How long send() waits while the server makes no room.
    duration send_timeout = duration::max();
    /// How long a wait looks at the ring before it sleeps. A sleep and its wake-up cost about 5 us.
    duration spin = std::chrono::microseconds(20);
    /// Decides on the server by its process, user and group (SO_PEERCRED). Empty: this user, root, or the user that has
    /// the name `at`.
    std::function<bool(const peer_credentials&)> may_be_server = {};
  };
  /// Connects to `at`, the Unix address of the server's listener, without ".shm". Throws config_error if `at` is no
  /// Unix address, and boost::system::system_error: EACCES or ECONNRESET if the server refuses, EACCES
  /// also if it may not be the server, EPROTO if its version differs, ETIMEDOUT.
  explicit shared_memory_client(std::string_view at) : shared_memory_client(at, options()) {}
  shared_memory_client(std::string_view at, const options& how);
  /// Closes the connection. The server reads what was sent before. In a child of fork() this ends nothing: the
  /// connection is the parent's.
  ~shared_memory_client();
  shared_memory_client(const shared_memory_client&) = delete;
  shared_memory_client& operator=(const shared_memory_client&) = delete;

  /// Sends all bytes; waits while the ring is full. Returns false if the connection has ended, or send_timeout is over:
  /// then a part has been sent, and nothing else can follow it in order.
  bool send(bytes data);
  /// Returns free space to write to, empty if the ring is full or the connection has ended. It ends at the end of the
  /// ring's memory, so it can be shorter than the free space.
  [[nodiscard]] std::span<char> reserve(std::size_t wanted = 1) noexcept { return endpoint_.out.reserve(wanted); }
  /// Sends the first `count` bytes of the space that reserve() returned.
  void commit(std::size_t count) noexcept;
  /// Waits until reserve() returns space. Returns false if the connection has ended, or `longest` is over.
  bool wait_for_room(duration longest = duration::max());
  /// Tells the server that nothing more will be sent.
  void finish_sending() noexcept;
  /// Makes the destructor close with a reset: the server's connection ends with ECONNRESET once it has read the rest.
  void reset_when_closed() noexcept { closing_ = shm::stream_end::reset; }

  /// Returns the bytes that wait, in place, up to the end of the ring's memory.
  [[nodiscard]] bytes peek() noexcept { return endpoint_.in.peek(); }
  /// Frees the first `count` bytes of peek().
  void release(std::size_t count) noexcept;
  /// Waits until peek() returns bytes. Returns false if none will come: the connection has ended, or `longest` is over.
  bool wait(duration longest = duration::max());
  /// Copies the next bytes, at least one; waits for them. Returns 0 if none will come.
  std::size_t receive(std::span<char> place);

  /// Returns whether the server has ended its stream or the connection. Bytes can still wait.
  [[nodiscard]] bool has_ended() noexcept;
  /// Returns why nothing more will come: no error after the server's orderly end, ECONNRESET after a reset or the death
  /// of its process, EPROTO if the ring is corrupt. No error before the end, too.
  [[nodiscard]] error_code end_reason() noexcept;
  [[nodiscard]] std::size_t ring_size() const noexcept { return endpoint_.memory.ring_size(); }

 private:
  template <class Ready, class Sleep>
  bool wait_until(Ready ready, Sleep sleep, duration longest);
  bool wait_for_wake(duration longest) noexcept;

  const options how_;
  passed_descriptors::owned_socket socket_;
  shm::endpoint endpoint_;
  shm::stream_end closing_ = shm::stream_end::finished;
  bool peer_ended_ = false;
};

}  // namespace quintet
