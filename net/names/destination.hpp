// SPDX-License-Identifier: BSL-1.0
// destination: a client's target: an address, a host name with a port, or several addresses of one service.
#pragma once

#include "address.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace quintet {

/// [any thread] A value.
class destination {
 public:
  /// Parses "127.0.0.1:80", "[::1]:80", "unix:/run/kv.sock" or a host name, "db.example:5432". A host name is resolved
  /// anew for each attempt. Throws config_error if `text` is invalid or has port 0.
  destination(std::string_view text);
  destination(const char* text) : destination(std::string_view(text)) {}
  destination(const std::string& text) : destination(std::string_view(text)) {}
  destination(const address& at) : candidates_{at} {}
  /// Takes addresses of the same service; the first one to answer is used. Throws config_error if there is none.
  explicit destination(std::vector<address> candidates);

  /// Returns the addresses; empty for a host name.
  [[nodiscard]] const std::vector<address>& candidates() const noexcept { return candidates_; }
  /// Returns the host name; empty for addresses.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] const std::string& port() const noexcept { return port_; }
  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<address> candidates_;
  std::string host_, port_;
};

/// Returns the order of attempts (RFC 8305, section 4): alternates the first candidate's family with the other ones. So
/// a broken family costs one attempt.
[[nodiscard]] std::vector<address> interleaved(const std::vector<address>& candidates);

}  // namespace quintet
