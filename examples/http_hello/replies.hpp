// SPDX-License-Identifier: BSL-1.0
// replies: every answer that there is, put together when the server starts, so that a request costs one copy.
#pragma once

#include "request_reader.hpp"

#include <array>
#include <map>
#include <string>

namespace http_hello {

/// Shared by all connections, and never changed.
class replies {
 public:
  replies();

  /// To a whole request: the object, or that there is nothing but GET and HEAD. `keep`: the connection goes on.
  [[nodiscard]] bytes to(const request_reader& r, bool keep) const;
  /// To one that was refused; the connection is over.
  [[nodiscard]] bytes refusal(int status) const;

  static constexpr bytes go_on = "HTTP/1.1 100 Continue\r\n\r\n";

 private:
  // What the Connection field has to say: nothing in HTTP/1.1 that goes on.
  enum { keep_1_1, keep_1_0, closing, kinds };

  std::array<std::string, kinds> object_, not_allowed_;
  std::map<int, std::string> refusals_;
};

}  // namespace http_hello
