// SPDX-License-Identifier: BSL-1.0
// replies: all possible replies, built when the server starts, so that a request costs one copy.
#pragma once

#include "request_reader.hpp"

#include <array>
#include <map>
#include <string>

namespace http_hello {

/// Shared by all connections; immutable.
class replies {
 public:
  replies();

  /// Returns the reply to a whole request: the object, or 405 unless GET or HEAD. `keep`: the connection stays open.
  [[nodiscard]] bytes to(const request_reader& r, bool keep) const;
  /// Returns the reply to a refused request. The caller must close the connection.
  [[nodiscard]] bytes refusal(int status) const;

  static constexpr bytes go_on = "HTTP/1.1 100 Continue\r\n\r\n";

 private:
  // Forms of the Connection field: absent if an HTTP/1.1 connection stays open.
  enum { keep_1_1, keep_1_0, closing, kinds };

  std::array<std::string, kinds> object_, not_allowed_;
  std::map<int, std::string> refusals_;
};

}  // namespace http_hello
