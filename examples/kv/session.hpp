// SPDX-License-Identifier: BSL-1.0
// session: the handler of one client: every whole request in the batch is carried out, and the replies leave together.
#pragma once

#include "resp.hpp"
#include "store.hpp"

#include <quintet/net/connection.hpp>

#include <span>

namespace kv {

class session {
 public:
  session(store& data, const limits& l) : store_(data), parser_(l) {}

  /// Returns how much of `in` it used: all but the beginning of a request whose end is still to come.
  std::size_t operator()(quintet::connection& c, bytes in);

 private:
  store& store_;
  request_parser parser_;
};

/// Carries out one request and writes its reply. Arguments: the command's name and what follows it; at least one.
/// False when it was the connection's last (QUIT).
bool execute(store& data, std::span<const bytes> arguments, quintet::connection& c);

/// Input that must be kept for a connection so that a request of the largest size fits.
[[nodiscard]] constexpr std::size_t max_input(const limits& l) noexcept {
  return l.request + l.arguments * 32 + 256 * 1024;
}

}  // namespace kv
