// SPDX-License-Identifier: BSL-1.0
// request_reader: the checked parts of a request, and the status of each error.
#include "request_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <string>

namespace http_hello {

using boost::beast::http::error;

namespace {

// "0\r\n\r\n" is the shortest rest of a chunked body. Once Beast has seen the 0, it asserts that it gets no less.
constexpr std::size_t least_chunked = 5;

/// Returns the size of a chunk's line; for the last chunk, with its trailer. Returns npos if it is incomplete.
std::size_t line_of_chunk(bytes in) {
  const std::size_t begin = in.starts_with("\r\n") ? 2 : 0;  // the end of the previous chunk
  const bytes line = in.substr(begin);
  const bool is_last = line.find_first_not_of('0') >= line.find_first_not_of("0123456789abcdefABCDEF");
  const bytes end = is_last ? "\r\n\r\n" : "\r\n";
  const std::size_t found = line.find(end);
  return found == line.npos ? found : begin + found + end.size();
}

/// Returns the size of the trailer after the last chunk's line, or npos if it is incomplete.
std::size_t end_of_trailer(bytes in) {
  const bytes end = in.starts_with("\r\n") ? "\r\n" : "\r\n\r\n";
  const std::size_t found = in.find(end);
  return found == in.npos ? found : found + end.size();
}

/// Returns whether the beginning of a chunk's line can become no right one, however it continues.
bool begins_wrong_chunk(bytes in) {
  const bytes line = in.substr(in.starts_with("\r\n") ? 2 : 0);  // the end of the previous chunk
  const std::size_t end = line.find_first_not_of("0123456789abcdefABCDEF");
  if (end == line.npos || in == "\r") return false;
  const bool has_cr_alone = line[end] == '\r' && line.size() > end + 1 && line[end + 1] != '\n';
  return end == 0 || has_cr_alone || bytes("\r; \t").find(line[end]) == bytes::npos;
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Returns the position of the version in a request line, "HTTP/1.1". Returns npos if the line has none.
std::size_t find_version(bytes line) {
  line = line.substr(0, std::min(line.find("\r\n"), line.size()));
  constexpr bytes form = "HTTP/1.1";
  if (line.size() < form.size() + 1) return line.npos;
  const std::size_t at = line.size() - form.size();
  const bytes version = line.substr(at);
  const bool fits = line[at - 1] == ' ' && version.starts_with("HTTP/") && is_digit(version[5]) && version[6] == '.' &&
                    is_digit(version[7]);
  return fits ? at : line.npos;
}

/// Returns whether the first line ends with LF alone.
bool has_bare_end(bytes in) noexcept {
  const std::size_t end = in.find('\n');
  return end != in.npos && !in.substr(0, end).ends_with('\r');
}

/// Returns whether a text is a host with an optional port (RFC 3986, section 3.2.2), or empty.
bool is_host(bytes text) {
  static constexpr bytes of_names = ":abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%!$&'()*+,;=";
  std::size_t end = text.find_first_not_of(of_names.substr(1));
  if (text.starts_with('[')) {
    end = text.find_first_not_of(of_names, 1);
    if (end == text.npos || text[end] != ']') return false;
    ++end;
  }
  const bytes port = text.substr(std::min(end, text.size()));
  return port.empty() || (port.front() == ':' && port.find_first_not_of("0123456789", 1) == port.npos);
}

/// Returns the size of the empty lines before a request. Careless clients send one behind a body (RFC 9112, 2.2).
std::size_t empty_lines_before(bytes in) noexcept {
  std::size_t size = 0;
  while (in.substr(size).starts_with("\r\n")) size += 2;
  return size;
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
  if (version_ == 0) {
    const std::size_t empty = empty_lines_before(in);
    rest.remove_prefix(empty);
    used += empty;
    header_bytes_ += empty;
    check_header(0, ec);
    if (rest == "\r") return progress::incomplete;
  }
  while (!rest.empty() && !is_done() && !ec) {
    const bool in_header = !is_header_done();
    if (!in_header && chunked() && !in_trailer_) {
      if (chunk_rest_ == 0 && begins_wrong_chunk(rest)) ec = error::bad_chunk;
      if (ec || rest.size() < least_chunked) break;
    }
    const std::size_t taken = in_header ? put_header(rest, ec) : put_body(rest, ec);
    rest.remove_prefix(taken);
    used += taken;
  }
  if (ec && ec != error::need_more) {
    status_ = status_for(ec, rest);
    return progress::refused;
  }
  return is_done() ? progress::whole : progress::incomplete;
}

// Beast waits for more than a short line that is wrong, and finds a wrong version before the end of its line: which
// error that is depends on all of the line. A request line that ends with LF alone could therefore get another status
// for each way to cut it.
std::size_t request_reader::put_header(bytes in, error_code& ec) {
  if (version_ == 0 && has_bare_end(in)) {
    ec = error::bad_line_ending;
    return 0;
  }
  std::size_t taken = put(boost::asio::buffer(in.data(), in.size()), ec);
  if (version_ == 0 && (ec == error::bad_version || ec == error::need_more)) {
    const bool has_line = in.find('\n') != in.npos;
    taken = 0;
    if (!has_line)
      ec = error::need_more;
    else if (ec == error::bad_version)
      taken = put_as_http_1_1(in, ec);
    else if (find_version(in) == in.npos)
      ec = error::bad_version;
  }
  header_bytes_ += taken;
  check_header(in.size() - taken, ec);
  return taken;
}

// A later minor version of HTTP/1 is served as HTTP/1.1 (RFC 9110, 2.5), but Beast does not know it.
std::size_t request_reader::put_as_http_1_1(bytes in, error_code& ec) {
  const std::size_t at = find_version(in);
  if (at == in.npos || in[at + 5] != '1' || in[at + 7] < '2') return 0;
  std::string as_known(in);
  as_known[at + 7] = '1';
  ec = {};
  return put(boost::asio::buffer(as_known), ec);
}

// Beast limits only the bytes of one call, not those already used: a header that arrives line by line would have no
// limit.
void request_reader::check_header(std::size_t unread, error_code& ec) const {
  if (ec && ec != error::need_more) return;
  if (header_bytes_ + (is_header_done() ? 0 : unread) > header_limit_) ec = error::header_limit;
}

// If Beast needs more than a complete line, a string in the chunk's extension does not end in its line. Beast would
// search for its end without limit, and count the chunk against the body limit each time.
std::size_t request_reader::put_body(bytes in, error_code& ec) {
  const bool at_line = chunked() && chunk_rest_ == 0 && !in_trailer_;
  std::size_t line = 0;
  if (at_line) line = line_of_chunk(in);
  if (in_trailer_) line = end_of_trailer(in);
  if (std::min(line, in.size()) > header_limit_) {
    ec = error::header_limit;
    return 0;
  }
  const std::size_t taken = put(boost::asio::buffer(in.data(), in.size()), ec);
  if (at_line && line != in.npos && ec == error::need_more && taken == 0) ec = error::bad_chunk_extension;
  return taken;
}

// Beast may not use the request line before all fields have arrived, so `unread` is searched for its end.
int request_reader::status_for(error_code ec, bytes unread) const {
  const bool in_line = version_ == 0;
  if (ec == error::header_limit)
    return in_line && std::min(unread.find('\n'), unread.size()) >= header_limit_ ? 414 : 431;
  if (ec == error::body_limit) return 413;
  const std::size_t version = ec == error::bad_version ? find_version(unread) : unread.npos;
  return version != unread.npos && unread[version + 5] != '1' ? 505 : 400;
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
  if (name == field::host) {
    ++hosts_;
    if (!is_host({value.data(), value.size()})) ec = error::bad_value;
  }
  if (name == field::expect) awaits_continue_ = boost::beast::iequals(value, "100-continue");
  // A coding other than chunked, or a coding after it: the end of such a body is unknown.
  if (name == field::transfer_encoding && !chunked()) ec = error::bad_transfer_encoding;
}

void request_reader::on_header_impl(error_code& ec) {
  if (hosts_ > 1 || (hosts_ == 0 && version_ == 11)) ec = error::bad_field;
}

}  // namespace http_hello
