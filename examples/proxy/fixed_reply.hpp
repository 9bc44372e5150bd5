// SPDX-License-Identifier: BSL-1.0
// fixed_reply: the handler of the server mode: answers any input with the same HTTP page, without parsing.
#pragma once

#include <quintet/net/connection.hpp>

namespace example::proxy {

struct fixed_reply {
  bool keeps_alive = false;

  void operator()(quintet::connection& c, quintet::bytes) const {
    c.write(keeps_alive ? kept : closing);
    if (!keeps_alive) c.close();
  }

  static constexpr quintet::bytes closing =
      "HTTP/1.0 200 OK\r\nServer: quintet\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: "
      "close\r\n\r\nhello\n";
  static constexpr quintet::bytes kept =
      "HTTP/1.0 200 OK\r\nServer: quintet\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: "
      "keep-alive\r\n\r\n"
      "hello\n";
};

}  // namespace example::proxy
