// SPDX-License-Identifier: BSL-1.0
// request_reader: the checked parts of a request, and the status of each error.
#include "request_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

namespace http_hello {

using boost::beast::http::error;

namespace {

// "0\r\n\r\n" is the shortest rest of a chunked body. Once Beast has seen the 0, it asserts that it gets no less.
constexpr std::size_t least_chunked = 5;

// Returns whether a chunk's line is complete; for the last chunk, whether its trailer is complete too. If Beast needs
// more than that, a string in the chunk's extension does not end in its line. Beast would search for its end without
// limit, and count the chunk against the body limit each time.
bool has_complete_line_of_chunk(bytes in) {
  if (in.starts_with("\r\n")) in.remove_prefix(2);  // of the previous chunk
  const bool is_last = in.find_first_not_of('0') >= in.find_first_not_of("0123456789abcdefABCDEF");
  return in.find(is_last ? "\r\n\r\n" : "\r\n") != in.npos;
}

}  // namespace

request_reader::request_reader(const limits& l) : header_limit_(l.header) {
  header_limit(static_cast<std::uint32_t>(l.header));
  body_limit(l.body);
}

// Loops because Beast returns after the header and after each piece of a body.
request_reader::progress request_reader::read(bytes in, std::size_t& used) {
  error_code ec;
  bytes rest = in;
  while (!rest.empty() && !is_done() && !ec) {
    const bool in_header = !is_header_done();
    if (!in_header && chunked() && rest.size() < least_chunked) break;
    const std::size_t taken = put(boost::asio::buffer(rest.data(), rest.size()), ec);
    rest.remove_prefix(taken);
    used += taken;
    if (in_header) {
      header_bytes_ += taken;
      check_header(rest.size(), ec);
    } else if (ec == error::need_more && taken == 0 && chunked() && has_complete_line_of_chunk(rest)) {
      ec = error::bad_chunk_extension;
    }
  }
  if (ec && ec != error::need_more) {
    status_ = status_for(ec, rest);
    return progress::refused;
  }
  return is_done() ? progress::whole : progress::incomplete;
}

// Beast limits only the bytes of one call, not those already used: a header that arrives line by line would have no
// limit.
void request_reader::check_header(std::size_t unread, error_code& ec) const {
  if (ec && ec != error::need_more) return;
  if (header_bytes_ + (is_header_done() ? 0 : unread) > header_limit_) ec = error::header_limit;
}

// Beast may not use the request line before all fields have arrived, so `unread` is searched for its end.
int request_reader::status_for(error_code ec, bytes unread) const {
  if (ec == error::header_limit) return version_ == 0 && unread.find('\n') == unread.npos ? 414 : 431;
  if (ec == error::body_limit) return 413;
  if (ec == error::bad_version) return 505;
  return 400;
}

bool request_reader::take_continue() noexcept {
  const bool wanted = awaits_continue_ && version_ == 11 && is_header_done() && !is_done();
  awaits_continue_ &= !wanted;
  return wanted;
}

void request_reader::on_request_impl(verb method, string_view, string_view, int version, error_code&) {
  method_ = method;
  version_ = version;
}

void request_reader::on_field_impl(field name, string_view, string_view value, error_code& ec) {
  if (name == field::host) ++hosts_;
  if (name == field::expect) awaits_continue_ = boost::beast::iequals(value, "100-continue");
  // A coding other than chunked, or a coding after it: the end of such a body is unknown.
  if (name == field::transfer_encoding && !chunked()) ec = error::bad_transfer_encoding;
}

void request_reader::on_header_impl(error_code& ec) {
  if (hosts_ > 1 || (hosts_ == 0 && version_ == 11)) ec = error::bad_field;
}

}  // namespace http_hello
