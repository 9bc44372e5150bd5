// SPDX-License-Identifier: BSL-1.0
// destination: where a client connects to: an address, a host name with a port, or several addresses of one service.
#pragma once

#include "address.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace quintet {

/// A value.
class destination {
 public:
  /// "127.0.0.1:80", "[::1]:80", "unix:/run/kv.sock", or a name that is looked up for each attempt anew:
  /// "db.example:5432". Throws config_error, which says what is allowed.
  destination(std::string_view text);
  destination(const char* text) : destination(std::string_view(text)) {}
  destination(const std::string& text) : destination(std::string_view(text)) {}
  destination(const address& at) : candidates_{at} {}
  /// Addresses of the same service: the first that answers is taken. At least one; throws config_error.
  explicit destination(std::vector<address> candidates);

  /// Nothing when there is a name to look up.
  [[nodiscard]] const std::vector<address>& candidates() const noexcept { return candidates_; }
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] const std::string& port() const noexcept { return port_; }
  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<address> candidates_;
  std::string host_, port_;
};

/// In the order in which they are tried (RFC 8305, 4): the two families of IP take turns, beginning with that of the
/// first, so that one of them being out of order costs one attempt.
[[nodiscard]] std::vector<address> interleaved(const std::vector<address>& candidates);

}  // namespace quintet
