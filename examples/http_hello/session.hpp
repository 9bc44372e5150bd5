// SPDX-License-Identifier: BSL-1.0
// session: the handler of one client: every whole request in the batch is answered, and the answers leave together.
#pragma once

#include "replies.hpp"
#include "request_reader.hpp"

#include <quintet/net/connection.hpp>

#include <cstddef>
#include <optional>

namespace http_hello {

class session {
 public:
  session(const replies& all, const limits& l) : replies_(all), limits_(l) { reader_.emplace(limits_); }
  /// Of one that has read nothing yet: what a server copies for each connection.
  session(const session& other) : session(other.replies_, other.limits_) {}

  std::size_t operator()(quintet::connection& c, bytes in);

 private:
  std::size_t end(quintet::connection& c, bytes in, bytes reply, bool more_may_come);

  const replies& replies_;
  limits limits_;
  std::optional<request_reader> reader_;  // of the request that is being read
};

/// Input that must be kept for a connection so that what `limits` allow fits.
[[nodiscard]] constexpr std::size_t max_input(const limits& l) noexcept { return l.header + 128 * 1024; }

}  // namespace http_hello
