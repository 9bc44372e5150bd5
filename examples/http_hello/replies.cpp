// SPDX-License-Identifier: BSL-1.0
// replies: the object of 64 bytes, and the error replies.
#include "replies.hpp"

#include <cstddef>
#include <string_view>

namespace http_hello {
namespace {

constexpr bytes object = "Hello from Quintet: one handler, five threading models, no lock\n";
static_assert(object.size() == 64);  // as in published comparisons of HTTP servers

constexpr std::array<std::string_view, 3> connection_fields{"", "Connection: keep-alive\r\n", "Connection: close\r\n"};

std::string reply(std::string_view status, std::string_view fields, bytes body) {
  std::string out = "HTTP/1.1 ";
  out.append(status).append("\r\nServer: quintet\r\n").append(fields);
  if (!body.empty()) out.append("Content-Type: text/plain\r\n");
  return out.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n").append(body);
}

}  // namespace

replies::replies() {
  const auto last = std::string(connection_fields[closing]);
  for (std::size_t i = 0; i < kinds; ++i) {
    const auto fields = std::string(connection_fields[i]);
    object_[i] = reply("200 OK", fields, object);
    not_allowed_[i] = reply("405 Method Not Allowed", "Allow: GET, HEAD\r\n" + fields, {});
  }
  for (const auto& [status, reason] :
       {std::pair{400, "400 Bad Request"}, std::pair{413, "413 Content Too Large"}, std::pair{414, "414 URI Too Long"},
        std::pair{431, "431 Request Header Fields Too Large"}, std::pair{505, "505 HTTP Version Not Supported"}})
    refusals_[status] = reply(reason, last, {});
}

bytes replies::to(const request_reader& r, bool keep) const {
  const auto kind = !keep ? closing : r.is_http_1_0() ? keep_1_0 : keep_1_1;
  if (r.is_get()) return object_[kind];
  if (r.is_head()) return bytes(object_[kind]).substr(0, object_[kind].size() - object.size());
  return not_allowed_[kind];
}

bytes replies::refusal(int status) const { return refusals_.at(status); }

}  // namespace http_hello
