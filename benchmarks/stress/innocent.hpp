// SPDX-License-Identifier: BSL-1.0
// innocent.hpp: a client of a foreign server that asks on a few connections in turn, and waits for each answer no
// longer than a bound. (good_client needs a server that echoes, and knows when it is alone.)
#pragma once

#include "stress/attack.hpp"
#include "unique_fd.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>

namespace quintet::bench {

/// One request on a connection that is opened where there is none.
class innocent_connection {
 public:
  explicit innocent_connection(const attack_settings& s) : settings_(s) {}
  /// Empty: answered in time. Otherwise what went wrong; the connection is then closed. `stopped` ends it early.
  std::string ask(unsigned number, const std::atomic<bool>& stopped);

 private:
  std::string connect(std::uint64_t deadline, const std::atomic<bool>& stopped);
  std::string receive(const std::string& request, std::uint64_t deadline, const std::atomic<bool>& stopped);

  const attack_settings& settings_;
  unique_fd fd_;
};

/// Asks in a thread of its own while the object lives, until finish().
class innocent_client {
 public:
  explicit innocent_client(const attack_settings& s);
  ~innocent_client();
  innocent_client(const innocent_client&) = delete;
  innocent_client& operator=(const innocent_client&) = delete;

  [[nodiscard]] unsigned answered() const { return answered_; }
  [[nodiscard]] unsigned failed() const { return failed_; }
  /// Waits for the last answer, or until its bound is over, and tells what it has found. Throws what `check` throws.
  void finish(findings& into);

 private:
  void work();

  const attack_settings& settings_;
  std::array<innocent_connection, 4> connections_;
  std::atomic<bool> is_last_{false}, has_ended_{false};  // the request that it waits for; the thread
  std::atomic<bool> stopped_{false};
  std::atomic<unsigned> answered_{0}, failed_{0};
  std::uint64_t worst_ns_ = 0;
  std::string first_failure_;
  std::jthread thread_;
};

}  // namespace quintet::bench
