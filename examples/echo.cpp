// SPDX-License-Identifier: BSL-1.0
// echo: sends back all input. The handler is a function; the threading model is one word on the command line.
#include "common/options.hpp"

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7007"});
  example::command_line("echo", "Sends back what it receives.")
      .server(config)
      .try_it("  echo --model reactor_pool &\n  nc 127.0.0.1 7007")
      .parse(argc, argv);
  try {
    quintet::server server(config, [](quintet::connection& c, quintet::bytes in) { c.write(in); });
    example::serve("echo", config, server);
  } catch (...) {
    return example::report_exception("echo");
  }
}
