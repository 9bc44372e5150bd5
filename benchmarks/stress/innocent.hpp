// SPDX-License-Identifier: BSL-1.0
// innocent.hpp: a client of any server. It sends requests on a few connections in turn and waits for each reply at most
// for a bound. (good_client requires an echoing server, and knows when it is alone.)
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

/// Sends one request at a time, and connects if there is no connection.
class innocent_connection {
 public:
  explicit innocent_connection(const attack_settings& s) : settings_(s) {}
  /// Returns "" after a timely reply. Otherwise returns the error
  /// and closes the connection. `stopped` ends the call early.
  std::string ask(unsigned number, const std::atomic<bool>& stopped);

 private:
  std::string connect(std::uint64_t deadline, const std::atomic<bool>& stopped);
  std::string receive(const std::string& request, std::uint64_t deadline, const std::atomic<bool>& stopped);

  const attack_settings& settings_;
  unique_fd fd_;
};

/// Sends requests in its own thread until finish() or destruction.
class innocent_client {
 public:
  explicit innocent_client(const attack_settings& s);
  ~innocent_client();
  innocent_client(const innocent_client&) = delete;
  innocent_client& operator=(const innocent_client&) = delete;

  [[nodiscard]] unsigned answered() const { return answered_; }
  [[nodiscard]] unsigned failed() const { return failed_; }
  /// Waits for the last reply, at most for the bound, and adds the results. Throws what `check` throws.
  void finish(findings& into);

 private:
  void work();

  const attack_settings& settings_;
  std::array<innocent_connection, 4> connections_;
  // The thread ends after its current request; the thread has ended.
  std::atomic<bool> is_last_{false}, has_ended_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<unsigned> answered_{0}, failed_{0};
  std::uint64_t worst_ns_ = 0;
  std::string first_failure_;
  std::jthread thread_;
};

}  // namespace quintet::bench
