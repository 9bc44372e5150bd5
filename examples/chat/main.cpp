// SPDX-License-Identifier: BSL-1.0
// chat: each line of one client is sent to all others. A client that does not read is closed and delays nobody.
#include "chat/room.hpp"
#include "common/options.hpp"

#include <quintet/net/framed.hpp>

#include <chrono>
#include <cstddef>

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7011"});
  config.limits.overflow = quintet::overflow_policy::close;  // a reader must not miss a line
  config.limits.high_watermark = 1U << 20U;
  config.limits.max_output = 4U << 20U;
  example::chat::manners manners;
  std::size_t line = 4096, per_address = 16, send_timeout_s = 30;
  example::command_line("chat", "A chat room: a line of one connection goes to all others.")
      .server(config)
      .number("--max-guests", manners.guests, 1, 100'000, "largest number of guests in the room")
      .number("--max-per-address", per_address, 0, 100'000,
              "largest number of connections from one address; 0: no limit")
      .number("--max-line", line, 64, 65'536, "largest line, in bytes")
      .number("--lines-per-second", manners.lines_per_second, 1, 1'000'000,
              "lines a second of one guest; more are dropped")
      .number("--burst", manners.burst, 1, 1'000'000, "lines at once after a silence")
      .number("--idle-timeout-s", manners.idle_s, 1, 1'000'000,
              "seconds without input or output until a guest is closed")
      .number("--send-timeout-s", send_timeout_s, 1, 3600,
              "seconds until a guest that reads none of its queued output is closed")
      .try_it("  chat &\n  nc 127.0.0.1 7011      # in two terminals")
      .parse(argc, argv);
  config.accepting.max_connections_per_address = per_address;
  example::set_send_timeout(config, std::chrono::seconds(send_timeout_s));
  try {
    example::chat::room room(manners.guests);
    quintet::server server(config,
                           quintet::framed(quintet::delimiter("\n", line), example::chat::guest(room, manners)));
    example::serve("chat", config, server);
  } catch (...) {
    return example::report_exception("chat");
  }
}
