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

// A line, so that a server which echoes lines does as well.
std::string echo_request(unsigned number) { return fmt::format("{:-<63}\n", fmt::format("request {} ", number)); }
std::string echo_large() { return std::string(large_bytes, 'x') + '\n'; }
std::string echo_unfinished(unsigned number) { return fmt::format("request {} ", number); }

std::string resp_echo(std::string_view text) {
  return fmt::format("*2\r\n$4\r\nECHO\r\n${}\r\n{}\r\n", text.size(), text);
}
std::string resp_request(unsigned number) {
  // Every second one is a PING: some servers know nothing else.
  return number % 2 == 0 ? "*1\r\n$4\r\nPING\r\n" : resp_echo(fmt::format("request {}", number));
}
reply_state resp_judge(std::string_view reply, std::string_view request) {
  if (request.starts_with("*1")) return is_so_far(reply, "+PONG\r\n");
  return is_so_far(reply, request.substr(request.rfind('$')));
}
std::string resp_large() { return resp_echo(std::string(large_bytes, 'x')); }
std::string resp_unfinished(unsigned) { return fmt::format("*2\r\n$4\r\nECHO\r\n${}\r\n", unfinished_bytes + 1); }

std::string http_request(unsigned number) {
  return fmt::format("GET /?{} HTTP/1.1\r\nHost: localhost\r\n\r\n", number);
}

/// In lower case.
std::string header_of(std::string_view reply, std::size_t end) {
  std::string header(reply.substr(0, end + 2));
  std::ranges::transform(header, header.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return header;
}

// Any status but a server's own failure is an answer.
reply_state http_judge(std::string_view reply, std::string_view) {
  constexpr std::string_view version = "HTTP/1.";
  if (!version.starts_with(reply.substr(0, version.size()))) return reply_state::wrong;
  const auto end = reply.find("\r\n\r\n");
  if (end == reply.npos) return reply.size() > 65536 ? reply_state::wrong : reply_state::incomplete;
  if (reply.size() > 9 && reply[9] == '5') return reply_state::wrong;
  const std::string header = header_of(reply, end);
  const std::string_view body = reply.substr(end + 4);
  const auto complete = header.starts_with("http/1.0") || header.find("\r\nconnection: close") != header.npos
                            ? reply_state::last
                            : reply_state::complete;
  if (header.find("\r\ntransfer-encoding: chunked") != header.npos)
    return body.ends_with("0\r\n\r\n") ? complete : reply_state::incomplete;
  constexpr std::string_view name = "\r\ncontent-length:";
  const auto at = header.find(name);
  if (at == header.npos) return reply_state::incomplete;  // until the server closes
  const auto digits = header.find_first_not_of(' ', at + name.size());
  std::size_t length = 0;
  std::from_chars(header.data() + digits, header.data() + header.size(), length);
  if (body.size() > length) return reply_state::wrong;
  return body.size() == length ? complete : reply_state::incomplete;
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
    {"resp", "Redis's: PING and ECHO", resp_request, resp_judge, resp_large, resp_unfinished},
    {"http", "HTTP/1.1: GET /", http_request, http_judge, http_large, http_unfinished},
}};

const dialect* parse_dialect(std::string_view name) {
  for (const dialect& d : dialects)
    if (d.name == name) return &d;
  throw usage_error(fmt::format("\"{}\" is no protocol; there are: echo, resp, http", name));
}

}  // namespace quintet::bench
