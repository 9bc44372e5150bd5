// SPDX-License-Identifier: BSL-1.0
// http_beast: HTTP by Boost.Beast on accepted connections. Compare http_hello, which needs no Asio.
#include "common/bad_request.hpp"
#include "common/options.hpp"

#include <quintet/net/asio_stream.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http.hpp>

#include <string>
#include <string_view>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::use_awaitable;
using http::status;
using request_parser = http::request_parser<http::string_body>;  // its limits: 8 KiB of header, 1 MiB of body

// A client's mistake must not throw: the server logs and counts exceptions.
constexpr auto as_result = asio::as_tuple(use_awaitable);

/// Returns ok, or what to answer. `unknown`: nothing, as the client has closed, or a time limit has expired.
status status_of(const quintet::error_code& why) {
  if (!why) return status::ok;
  if (why == http::error::body_limit) return status::payload_too_large;
  return example::is_bad_request(why) ? status::bad_request : status::unknown;
}

/// The same for a header whose body has not been read.
status status_of(const http::request_header<>& request) {
  if (request.version() >= 11 && request.count(http::field::host) != 1) return status::bad_request;
  return request.method() == http::verb::connect ? status::not_implemented : status::ok;
}

/// Reads a request. Returns as status_of().
asio::awaitable<status> read_request(quintet::asio_stream& s, boost::beast::flat_buffer& buffer, request_parser& into) {
  const auto [header_error, header_size] = co_await http::async_read_header(s, buffer, into, as_result);
  if (header_error) co_return status_of(header_error);
  const auto& request = into.get();
  if (const status refused = status_of(request.base()); refused != status::ok) co_return refused;
  if (into.is_done()) co_return status::ok;
  // Clients ask before they send a large body. curl waits a second for the answer, then sends anyway.
  if (request.version() >= 11 && boost::beast::iequals(request[http::field::expect], "100-continue")) {
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await asio::async_write(s, asio::buffer(go_on), use_awaitable);
  }
  const auto [body_error, size] = co_await http::async_read(s, buffer, into, as_result);
  co_return status_of(body_error);
}

asio::awaitable<void> serve_http(quintet::asio_stream s) {
  boost::beast::flat_buffer buffer(16 * 1024);
  for (bool keeps_alive = true; keeps_alive;) {
    request_parser parser;
    const status found = co_await read_request(s, buffer, parser);
    if (found == status::unknown) co_return;
    const auto& request = parser.get();
    keeps_alive = found == status::ok && request.keep_alive();
    http::response<http::string_body> response(found, request.version());
    response.keep_alive(keeps_alive);
    if (found == status::ok) {
      response.set(http::field::content_type, "text/plain");
      response.body() = "hello from " + std::string(request.target()) + "\n";
    }
    response.prepare_payload();
    http::response_serializer<http::string_body> serializer(response);
    if (request.method() == http::verb::head)
      co_await http::async_write_header(s, serializer, use_awaitable);
    else
      co_await http::async_write(s, serializer, use_awaitable);
    s.message_done();
  }
}

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7019"});
  example::command_line("http_beast", "Answers each HTTP request with its path, by Boost.Beast.")
      .server(config)
      .try_it("  http_beast &\n  curl http://127.0.0.1:7019/path")
      .parse(argc, argv);
  try {
    quintet::server server(config, serve_http);
    example::serve("http_beast", config, server);
  } catch (...) {
    return example::report_exception("http_beast");
  }
}
