// SPDX-License-Identifier: BSL-1.0
// exchanges.hpp: the exchange of one short connection: an echoed message, or an HTTP request and its reply.
#pragma once

#include "load/control.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace quintet::bench {

/// The server echoes the request, and the client closes.
class echo_exchange {
 public:
  echo_exchange(const control& c, unsigned connection) : stream_(c.requests_of(connection, connection)) {}

  std::size_t request_bytes() const { return stream_.message_bytes(); }
  /// Writes the request from its byte `from` on.
  void produce(std::size_t from, char* out, std::size_t length) const {
    stream_.produce(position_ + from, out, length);
  }
  /// Checks the next bytes of the reply. Returns null, or what is wrong.
  const char* take(std::string_view in) {
    if (received_ + in.size() > request_bytes()) return "the server sent more than it was asked for";
    if (!stream_.matches(position_ + received_, in)) return "wrong bytes in a reply";
    received_ += in.size();
    return nullptr;
  }
  bool complete() const { return received_ == request_bytes(); }
  /// Checks the end of the stream. Returns null, or what is wrong.
  const char* take_end() const { return "the server closed the connection"; }
  /// Prepares for the next connection.
  void next() {
    position_ += request_bytes();
    received_ = 0;
  }

 private:
  request_stream stream_;
  std::uint64_t position_ = 0;  ///< of the current request, in the stream
  std::size_t received_ = 0;
};

/// HTTP without keep-alive. The server closes after its reply, which must be a 200 with a body of the requested size.
class http_exchange {
 public:
  http_exchange(const control& c, unsigned) : body_bytes_(c.settings.work.message_bytes) {}

  static std::size_t request_bytes() { return request.size(); }
  static void produce(std::size_t from, char* out, std::size_t length) { request.copy(out, length, from); }
  const char* take(std::string_view in) {
    reply_ += in;
    return reply_.size() > most_header_bytes + body_bytes_ ? "the reply is too long" : nullptr;
  }
  static bool complete() { return false; }
  const char* take_end() const {
    const std::string_view reply = reply_;
    if (reply.empty()) return "the server closed the connection";
    if (!reply.starts_with("HTTP/1.1 200 ")) return "a reply that is not HTTP/1.1 200";
    const auto end = reply.find("\r\n\r\n");
    if (end == reply.npos || announced(reply.substr(0, end + 2)) != body_bytes_) return "a reply of another length";
    return reply.size() - end - 4 == body_bytes_ ? nullptr : "a body of another length than announced";
  }
  void next() { reply_.clear(); }

 private:
  static constexpr std::string_view request = "GET /64 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  static constexpr std::size_t most_header_bytes = 4096;

  static std::size_t announced(std::string_view header) {
    constexpr std::string_view name = "\r\nContent-Length: ";
    std::size_t value = 0;
    if (const auto at = header.find(name); at != header.npos)
      std::from_chars(header.data() + at + name.size(), header.data() + header.size(), value);
    return value;
  }

  std::size_t body_bytes_;
  std::string reply_;
};

}  // namespace quintet::bench
