// SPDX-License-Identifier: BSL-1.0
// chat: what one says, all others read. A reader that is stuck is closed, and harms nobody.
#include "chat/room.hpp"
#include "common/options.hpp"

#include <quintet/net/framed.hpp>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  quintet::config config{.listen = {"127.0.0.1:7011"},
                         .limits = {.max_output = 4U << 20U,
                                    .high_watermark = 1U << 20U,
                                    .full = quintet::when_full::close,
                                    .send_timeout = 30s}};
  example::command_line("chat", "A room: what one connection says, all others read.")
      .server(config)
      .try_it("  chat &\n  nc 127.0.0.1 7011      # in two terminals")
      .parse(argc, argv);
  try {
    example::chat::room room;
    quintet::server server(config, quintet::framed(quintet::delimiter("\n", 4096), example::chat::guest(room)));
    example::serve("chat", config, server);
  } catch (...) {
    return example::report_exception("chat");
  }
}
