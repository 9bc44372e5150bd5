// SPDX-License-Identifier: BSL-1.0
// replies: all possible replies, built when the server starts, so that a request costs one copy. Only the Date field is
// written anew, once a second.
#pragma once

#include "request_reader.hpp"

#include <quintet/net/connection.hpp>

#include <array>
#include <cstddef>
#include <ctime>
#include <map>
#include <string>
#include <string_view>

namespace http_hello {

/// Shared by all connections; immutable.
class replies {
 public:
  using clock = std::time_t (*)();
  static std::time_t system_time();
  /// The clock gives the Date field its time.
  explicit replies(clock now = system_time);

  /// Writes the reply to a whole request: the object, or 405 unless GET or HEAD. `keep`: the connection stays open.
  void write(quintet::connection& to, const request_reader& r, bool keep) const;
  /// Writes the reply to a refused request. The caller must close the connection.
  void write_refusal(quintet::connection& to, int status) const;

  static constexpr bytes go_on = "HTTP/1.1 100 Continue\r\n\r\n";

 private:
  // Forms of the Connection field: absent if an HTTP/1.1 connection stays open.
  enum { keep_1_1, keep_1_0, closing, kinds };

  /// A reply in two parts, between which the Date field belongs.
  struct reply {
    std::string head, rest;
  };
  static reply make(std::string_view status, std::string_view fields, bytes body);
  void write(quintet::connection& to, const reply& r, std::size_t without = 0) const;

  clock now_;
  std::array<reply, kinds> object_, not_allowed_;
  std::map<int, reply> refusals_;
};

}  // namespace http_hello
