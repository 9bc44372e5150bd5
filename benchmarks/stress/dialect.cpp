// SPDX-License-Identifier: BSL-1.0
// dialect.cpp: echo, RESP (PING and ECHO), HTTP/1.1 (GET /).
#include "stress/dialect.hpp"

#include "options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace quintet::bench {
namespace {

constexpr std::size_t large_bytes = 16'000;

reply_state is_so_far(std::string_view reply, std::string_view wanted) {
  if (reply == wanted) return reply_state::complete;
  return wanted.starts_with(reply) ? reply_state::incomplete : reply_state::wrong;
}

// A line, so that servers that echo lines work too.
std::string echo_request(unsigned number) { return fmt::format("{:-<63}\n", fmt::format("request {} ", number)); }
std::string echo_large() { return std::string(large_bytes, 'x') + '\n'; }
std::string echo_unfinished(unsigned number) { return fmt::format("request {} ", number); }

std::string resp_echo(std::string_view text) {
  return fmt::format("*2\r\n$4\r\nECHO\r\n${}\r\n{}\r\n", text.size(), text);
}
std::string resp_request(unsigned number) {
  // Every second request is a PING, because some servers have no ECHO.
  return number % 2 == 0 ? "*1\r\n$4\r\nPING\r\n" : resp_echo(fmt::format("request {}", number));
}
reply_state check_resp_reply(std::string_view reply, std::string_view request) {
  if (request.starts_with("*1")) return is_so_far(reply, "+PONG\r\n");
  return is_so_far(reply, request.substr(request.rfind('$')));
}
std::string resp_large() { return resp_echo(std::string(large_bytes, 'x')); }
std::string resp_unfinished(unsigned) { return fmt::format("*2\r\n$4\r\nECHO\r\n${}\r\n", unfinished_bytes + 1); }

std::string http_request(unsigned number) {
  return fmt::format("GET /?{} HTTP/1.1\r\nHost: localhost\r\n\r\n", number);
}

/// Returns the header in lower case.
std::string header_of(std::string_view reply, std::size_t end) {
  std::string header(reply.substr(0, end + 2));
  std::ranges::transform(header, header.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return header;
}

/// Returns the value of a field; empty if the header lacks it.
std::string_view field_of(std::string_view header, std::string_view name) {
  const std::string start = fmt::format("\r\n{}:", name);
  const auto at = header.find(start);
  if (at == header.npos) return {};
  std::string_view value = header.substr(at + start.size());
  value = value.substr(0, value.find("\r\n"));
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  return value.substr(0, value.find_last_not_of(" \t") + 1);
}

/// `tail` has the bytes after the chunk of size 0. Fields may precede the empty line.
reply_state check_trailer(std::string_view tail) {
  constexpr std::string_view empty_line = "\r\n", end_of_fields = "\r\n\r\n";
  if (tail.starts_with(empty_line)) return is_so_far(tail, empty_line);
  const auto end = tail.find(end_of_fields);
  if (end == tail.npos) return reply_state::incomplete;
  return is_so_far(tail.substr(end), end_of_fields);
}

reply_state check_chunks(std::string_view body) {
  constexpr std::size_t longest_line = 4096;
  for (;;) {
    const auto end = body.find("\r\n");
    if (end == body.npos) return body.size() > longest_line ? reply_state::wrong : reply_state::incomplete;
    std::size_t size = 0;
    const auto [digits_end, error] = std::from_chars(body.data(), body.data() + end, size, 16);
    if (error != std::errc() || std::string_view("\r; \t").find(*digits_end) == body.npos) return reply_state::wrong;
    body.remove_prefix(end + 2);
    if (size == 0) return check_trailer(body);
    if (body.size() < size || body.size() - size < 2) return reply_state::incomplete;
    if (body.substr(size, 2) != "\r\n") return reply_state::wrong;
    body.remove_prefix(size + 2);
  }
}

reply_state check_length(std::string_view body, std::string_view digits) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc() || end != digits.data() + digits.size() || body.size() > length) return reply_state::wrong;
  return body.size() == length ? reply_state::complete : reply_state::incomplete;
}

/// `header` is in lower case.
reply_state check_body(std::string_view header, std::string_view body) {
  const std::string_view status = header.substr(std::min(header.find(' '), header.size()));
  if (status.starts_with(" 204") || status.starts_with(" 304")) return is_so_far(body, "");
  if (field_of(header, "transfer-encoding").ends_with("chunked")) return check_chunks(body);
  const std::string_view length = field_of(header, "content-length");
  return length.empty() ? reply_state::until_end : check_length(body, length);
}

// Accepts any status except the server's own failures.
reply_state check_http_reply(std::string_view reply, std::string_view request) {
  constexpr std::string_view version = "HTTP/1.";
  if (!version.starts_with(reply.substr(0, version.size()))) return reply_state::wrong;
  const auto end = reply.find("\r\n\r\n");
  if (end == reply.npos) return reply.size() > 65536 ? reply_state::wrong : reply_state::incomplete;
  if (reply.size() > 9 && reply[9] == '5') return reply_state::wrong;
  const std::string header = header_of(reply, end);
  const std::string_view body = reply.substr(end + 4);
  if (reply.size() > 9 && reply[9] == '1')
    return check_http_reply(body, request);  // informational: the final reply follows
  const reply_state state = check_body(header, body);
  const bool closes = header.starts_with("http/1.0") || field_of(header, "connection") == "close";
  return state == reply_state::complete && closes ? reply_state::last : state;
}
std::string http_large() {
  std::string many;
  for (unsigned i = 0; i < 200; ++i) many += http_request(i);
  return many;
}
std::string http_unfinished(unsigned number) {
  return fmt::format("GET /?{} HTTP/1.1\r\nHost: localhost\r\nX-Unfinished: ", number);
}

}  // namespace

const std::array<dialect, 3> dialects{{
    {"echo", "the same bytes come back", echo_request, is_so_far, echo_large, echo_unfinished},
    {"resp", "Redis's: PING and ECHO", resp_request, check_resp_reply, resp_large, resp_unfinished},
    {"http", "HTTP/1.1: GET /", http_request, check_http_reply, http_large, http_unfinished},
}};

const dialect* parse_dialect(std::string_view name) {
  for (const dialect& d : dialects)
    if (d.name == name) return &d;
  throw usage_error(fmt::format("\"{}\" is not a protocol; it must be one of: echo, resp, http", name));
}

}  // namespace quintet::bench
