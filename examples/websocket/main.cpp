// SPDX-License-Identifier: BSL-1.0
// websocket: Beast's WebSockets on accepted connections. At /echo each message comes back, at /chat it goes to all.
#include "common/options.hpp"
#include "websocket/room.hpp"
#include "websocket/service.hpp"

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7018"});
  example::command_line("websocket", "WebSockets by Boost.Beast: /echo sends each message back, /chat to all guests.")
      .server(config)
      .try_it("  websocket &\n  python3 -m websockets ws://127.0.0.1:7018/chat      # in two terminals")
      .parse(argc, argv);
  try {
    example::websocket::room chatting;
    quintet::server server(config, example::websocket::service(chatting));
    example::serve("websocket", config, server);
  } catch (...) {
    return example::report_exception("websocket");
  }
}
