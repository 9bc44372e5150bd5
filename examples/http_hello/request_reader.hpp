// SPDX-License-Identifier: BSL-1.0
// request_reader: reads one HTTP request with Boost.Beast's parser and keeps only what the reply depends on.
#pragma once

#include <quintet/base/bytes.hpp>

#include <boost/beast/http/basic_parser.hpp>

#include <cstddef>
#include <cstdint>

namespace http_hello {

using quintet::bytes;

/// Limits of a request; a larger one is refused.
struct limits {
  std::size_t header = 8 * 1024;  ///< bytes of the request line and all fields
  std::size_t body = 64 * 1024;   ///< bytes of a body, which is read and discarded
};

/// Reads one request. Beast's own parser stores every field in a container; this one allocates nothing. It cannot be
/// reused: create another one for the next request.
class request_reader final : private boost::beast::http::basic_parser<true> {
 public:
  explicit request_reader(const limits& l);

  enum class progress {
    incomplete,  ///< offer the unused bytes again, followed by more
    whole,       ///< the request is complete, including its body
    refused,     ///< status() says why; the start of the next request is unknown
  };
  /// Uses bytes from the front of `in`, and adds their count to `used`.
  progress read(bytes in, std::size_t& used);

  // After `whole`; after `refused` for the part that was read.
  [[nodiscard]] bool is_get() const noexcept { return method_ == boost::beast::http::verb::get; }
  [[nodiscard]] bool is_head() const noexcept { return method_ == boost::beast::http::verb::head; }
  [[nodiscard]] bool is_http_1_0() const noexcept { return version_ == 10; }
  /// A transfer coding in HTTP/1.0 is no agreement between the two sides: the connection must close (RFC 9112, 6.1).
  [[nodiscard]] bool keep_alive() const { return basic_parser::keep_alive() && !(is_http_1_0() && chunked()); }
  // After `refused`: 400, 413, 414, 431 or 505.
  [[nodiscard]] int status() const noexcept { return status_; }
  /// After `incomplete`: returns whether the client waits for "100 Continue". Returns true once.
  [[nodiscard]] bool take_continue() noexcept;

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;
  using field = boost::beast::http::field;
  using verb = boost::beast::http::verb;
  using length = boost::optional<std::uint64_t>;

  // Return how many bytes of `in` they have used.
  std::size_t put_header(bytes in, error_code& ec);
  std::size_t put_as_http_1_1(bytes in, error_code& ec);
  std::size_t put_body(bytes in, error_code& ec);
  void check_header(std::size_t unread, error_code& ec) const;
  [[nodiscard]] int status_for(error_code ec, bytes unread) const;

  void on_request_impl(verb method, string_view, string_view, int version, error_code&) override;
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(field name, string_view, string_view value, error_code& ec) override;
  void on_header_impl(error_code& ec) override;
  void on_body_init_impl(const length&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t size, string_view, error_code&) override {
    chunk_rest_ = size;
    in_trailer_ = size == 0;
  }
  std::size_t on_chunk_body_impl(std::uint64_t rest, string_view body, error_code&) override {
    chunk_rest_ = rest - body.size();
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  std::size_t header_limit_;
  std::size_t header_bytes_ = 0;  // used so far
  verb method_ = verb::unknown;
  int version_ = 0;  // 10 or 11; 0: the request line has not been read
  int status_ = 0;
  unsigned hosts_ = 0;
  std::uint64_t chunk_rest_ = 0;  // bytes of the chunk's body that have not been read
  bool in_trailer_ = false;       // the last chunk's line has been read; Beast of Boost 1.81 reads it with the trailer
  bool awaits_continue_ = false;
};

}  // namespace http_hello
