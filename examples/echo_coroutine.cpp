// SPDX-License-Identifier: BSL-1.0
// echo_coroutine: the same service as echo, with one coroutine per connection.
#include "common/options.hpp"

#include <quintet/net/stream.hpp>

namespace {

quintet::awaitable<> echo(quintet::stream& s) {
  while (auto in = co_await s.read()) s.write(*in);
}

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7007"});
  example::command_line("echo_coroutine", "Sends back what it receives; its handler is a coroutine.")
      .server(config)
      .try_it("  echo_coroutine --model thread_per_connection &\n  nc 127.0.0.1 7007")
      .parse(argc, argv);
  try {
    quintet::server server(config, echo);
    example::serve("echo_coroutine", config, server);
  } catch (...) {
    return example::report_exception("echo_coroutine");
  }
}
