// SPDX-License-Identifier: BSL-1.0
// replies: the object of 64 bytes, and the error replies.
#include "replies.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace http_hello {
namespace {

constexpr bytes object = "Hello from Quintet: one handler, five threading models, no lock\n";
static_assert(object.size() == 64);  // as in published comparisons of HTTP servers

constexpr std::array<std::string_view, 3> connection_fields{"", "Connection: keep-alive\r\n", "Connection: close\r\n"};

/// Returns the Date field of a time. One text for each thread: no thread waits for another one.
bytes date_field(std::time_t now) {
  constexpr std::size_t size = std::string_view("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n").size();
  thread_local constinit std::array<char, size + 1> field{};
  thread_local constinit std::time_t shown = -1;
  if (now != shown) {
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    // The names of days and months are those of the "C" locale, which the program never leaves.
    (void)std::strftime(field.data(), field.size(), "Date: %a, %d %b %Y %T GMT\r\n", &parts);
    shown = now;
  }
  return {field.data(), size};
}

}  // namespace

std::time_t replies::system_time() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec;
}

replies::reply replies::make(std::string_view status, std::string_view fields, bytes body) {
  reply r;
  r.head.append("HTTP/1.1 ").append(status).append("\r\nServer: quintet\r\n");
  r.rest.append(fields);
  if (!body.empty()) r.rest.append("Content-Type: text/plain\r\n");
  r.rest.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n").append(body);
  return r;
}

replies::replies(clock now) : now_(now) {
  const auto last = std::string(connection_fields[closing]);
  for (std::size_t i = 0; i < kinds; ++i) {
    const auto fields = std::string(connection_fields[i]);
    object_[i] = make("200 OK", fields, object);
    not_allowed_[i] = make("405 Method Not Allowed", "Allow: GET, HEAD\r\n" + fields, {});
  }
  for (const auto& [status, reason] :
       {std::pair{400, "400 Bad Request"}, std::pair{413, "413 Content Too Large"}, std::pair{414, "414 URI Too Long"},
        std::pair{431, "431 Request Header Fields Too Large"}, std::pair{505, "505 HTTP Version Not Supported"}})
    refusals_[status] = make(reason, last, {});
}

// `without`: bytes at the end that are not sent.
void replies::write(quintet::connection& to, const reply& r, std::size_t without) const {
  to.write(r.head);
  to.write(date_field(now_()));
  to.write(bytes(r.rest).substr(0, r.rest.size() - without));
}

void replies::write(quintet::connection& to, const request_reader& r, bool keep) const {
  const auto kind = !keep ? closing : r.is_http_1_0() ? keep_1_0 : keep_1_1;
  if (r.is_get()) return write(to, object_[kind]);
  if (r.is_head()) return write(to, object_[kind], object.size());
  write(to, not_allowed_[kind]);
}

void replies::write_refusal(quintet::connection& to, int status) const { write(to, refusals_.at(status)); }

}  // namespace http_hello
