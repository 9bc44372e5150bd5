// SPDX-License-Identifier: BSL-1.0
// session: the handler of one client. It carries out every whole request in the batch; the replies leave together.
// It pauses while the client does not read its replies.
#pragma once

#include "commands.hpp"
#include "replies.hpp"
#include "resp.hpp"
#include "store.hpp"

#include <quintet/base/log.hpp>
#include <quintet/net/connection.hpp>

#include <cstddef>
#include <string>

namespace kv {

class session {
 public:
  /// `log` gets the session's own events. It must outlive the session; null: none.
  session(store& data, const limits& l, const quintet::log_hook* log = nullptr) : store_(data), log_(log), parser_(l) {}

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
  const quintet::log_hook* log_;
  request_parser parser_;
  client_state client_;
  std::string put_off_;  // requests received while the client did not read
  std::size_t put_off_used_ = 0;
};

/// Returns a `max_input` that fits the largest request.
[[nodiscard]] constexpr std::size_t max_input(const limits& l) noexcept {
  return l.request + l.arguments * 32 + 256 * 1024;
}

/// Returns a `max_output` that fits the largest reply behind output up to the high watermark.
[[nodiscard]] constexpr std::size_t max_output(const limits& l, std::size_t high_watermark) noexcept {
  return high_watermark + l.request + 256 * 1024;
}

/// Sets limits of a server's memory that fit the largest request and reply of four clients at once.
void set_sizes(quintet::connection_limits& each, quintet::memory_limits& all, const limits& l);

}  // namespace kv
