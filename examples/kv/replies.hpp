// SPDX-License-Identifier: BSL-1.0
// replies: writes replies of the Redis protocol, version 2 or 3, to a connection.
#pragma once

#include "store.hpp"

#include <quintet/net/connection.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace kv {

/// Facts that a client reports about itself (HELLO, CLIENT).
struct client_state {
  bool resp3 = false;    ///< it has asked for version 3 of the protocol
  std::uint64_t id = 0;  ///< 0: it has not been asked for
  std::string name;
};

/// Small replies are copied into the connection's buffer; stored values are shared. Counts the bytes.
class replies {
 public:
  replies(quintet::connection& to, client_state& client) noexcept : to_(to), client_(client) {}
  void write(bytes data) {
    written_ += data.size();
    to_.write(data);
  }
  void write(quintet::shared_bytes data) {
    written_ += data->size();
    to_.write(std::move(data));
  }
  /// Writes a line: a number, a length or a count, as the prefix says.
  void write_number(char prefix, std::int64_t n);
  void write_bulk(bytes text);
  /// Sends a large value without a copy, so that the value is in memory once for all clients.
  void write_bulk(value&& found);
  /// Writes bytes of the client within a line. CR and LF become blanks, so that they cannot end the line.
  void write_quoted(bytes text);
  void write_null() { write(client_.resp3 ? bytes("_\r\n") : bytes("$-1\r\n")); }
  /// Begins a map of so many pairs, which version 2 has as a list.
  void begin_map(std::size_t pairs);

  void close() noexcept { to_.close(); }
  [[nodiscard]] std::string peer_address() const { return to_.peer_address(); }
  [[nodiscard]] client_state& client() noexcept { return client_; }
  [[nodiscard]] std::size_t written() const noexcept { return written_; }
  void begin_again() noexcept { written_ = 0; }

 private:
  quintet::connection& to_;
  client_state& client_;
  std::size_t written_ = 0;
};

}  // namespace kv
