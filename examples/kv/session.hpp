// SPDX-License-Identifier: BSL-1.0
// session: the handler of one client. It carries out every whole request in the batch; the replies leave together.
// It pauses while the client does not read its replies.
#pragma once

#include "resp.hpp"
#include "store.hpp"

#include <quintet/net/connection.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace kv {

/// Writes replies to a connection and counts their bytes.
class replies {
 public:
  explicit replies(quintet::connection& to) noexcept : to_(to) {}
  void write(bytes data) {
    written_ += data.size();
    to_.write(data);
  }
  void write(store::value data) {
    written_ += data->size();
    to_.write(std::move(data));
  }
  void close() noexcept { to_.close(); }
  [[nodiscard]] std::size_t written() const noexcept { return written_; }
  void begin_again() noexcept { written_ = 0; }

 private:
  quintet::connection& to_;
  std::size_t written_ = 0;
};

class session {
 public:
  session(store& data, const limits& l) : store_(data), parser_(l) {}

  /// Returns the number of bytes used: all of `in` except an incomplete request at its end.
  std::size_t operator()(quintet::connection& c, bytes in);
  void on_writable(quintet::connection& c);

 private:
  struct progress {
    std::size_t used = 0;
    bool any = false;   // a request was carried out
    bool full = false;  // it stopped because the client does not read
  };
  progress carry_out(quintet::connection& c, bytes in);
  void carry_out_put_off(quintet::connection& c);

  store& store_;
  request_parser parser_;
  std::string put_off_;  // requests received while the client did not read
  std::size_t put_off_used_ = 0;
};

/// Carries out one request and writes its reply. `arguments`: at least one, the command's name. Returns false if the
/// request was the connection's last (QUIT).
bool execute(store& data, std::span<const bytes> arguments, replies& to);

/// Returns a `max_input` that fits the largest request.
[[nodiscard]] constexpr std::size_t max_input(const limits& l) noexcept {
  return l.request + l.arguments * 32 + 256 * 1024;
}

/// Returns a `max_output` that fits the largest reply behind output up to the high watermark.
[[nodiscard]] constexpr std::size_t max_output(const limits& l, std::size_t high_watermark) noexcept {
  return high_watermark + l.request + 256 * 1024;
}

}  // namespace kv
