// SPDX-License-Identifier: BSL-1.0
// session: the handler of one client. It answers every whole request in the batch; the replies leave together.
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
  /// Creates a session with a new reader, for a server that copies its handler for each connection.
  session(const session& other) : session(other.replies_, other.limits_) {}

  std::size_t operator()(quintet::connection& c, bytes in);

 private:
  std::size_t end(quintet::connection& c, bytes in, bool more_may_come);

  const replies& replies_;
  limits limits_;
  std::optional<request_reader> reader_;  // of the current request
};

/// Returns a `max_input` that fits every request within `l`.
[[nodiscard]] constexpr std::size_t max_input(const limits& l) noexcept { return l.header + 128 * 1024; }

}  // namespace http_hello
