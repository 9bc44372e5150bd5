// SPDX-License-Identifier: BSL-1.0
// http_beast: HTTP by Boost.Beast on accepted connections. Compare http_hello, which needs no Asio.
#include "common/options.hpp"

#include <quintet/net/asio_stream.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <string>

namespace {

namespace http = boost::beast::http;
using boost::asio::use_awaitable;

/// Returns whether the client has sent something that is no request; if not, it has closed, or a limit has expired.
bool is_bad_request(const quintet::error_code& why) {
  const bool has_closed = why == http::error::end_of_stream || why == http::error::partial_message;
  return why.category() == make_error_code(http::error::end_of_stream).category() && !has_closed;
}

boost::asio::awaitable<void> serve_http(quintet::asio_stream s) {
  boost::beast::flat_buffer buffer(16 * 1024);
  for (bool keeps_alive = true; keeps_alive;) {
    http::request<http::string_body> request;
    // A client's mistake is no exception of the handler, which the server would log and count.
    const auto [why, size] = co_await http::async_read(s, buffer, request, boost::asio::as_tuple(use_awaitable));
    if (is_bad_request(why)) {
      http::response<http::empty_body> refusal(http::status::bad_request, 11);
      refusal.keep_alive(false);
      refusal.prepare_payload();
      co_await http::async_write(s, refusal, use_awaitable);
    }
    if (why) co_return;
    http::response<http::string_body> response(http::status::ok, request.version());
    keeps_alive = request.keep_alive();
    response.keep_alive(keeps_alive);
    response.set(http::field::content_type, "text/plain");
    response.body() = "hello from " + std::string(request.target()) + "\n";
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
