// SPDX-License-Identifier: BSL-1.0
// echo_static: the same service as echo, with the threading model as a type; no other model is compiled in.
#include "common/options.hpp"

#include <quintet/threadmodels/models.hpp>

namespace {

struct echo {
  void operator()(quintet::connection& c, quintet::bytes in) const { c.write(in); }
};

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7007"});
  example::command_line("echo_static", "Sends back what it receives, in one thread; no other model is compiled in.")
      .server(config, false)
      .try_it("  echo_static &\n  nc 127.0.0.1 7007")
      .parse(argc, argv);
  try {
    quintet::server server(quintet::server_options_of(config), quintet::single_reactor(), echo());
    example::serve("echo_static", config, server, false);
  } catch (...) {
    return example::report_exception("echo_static");
  }
}
