// SPDX-License-Identifier: BSL-1.0
// step1_echo: step 1 of the tutorial: a server that sends back what it receives.
#include "common/options.hpp"

namespace {

struct echo {
  void operator()(quintet::connection& c, quintet::bytes in) const { c.write(in); }
};

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7101"});
  example::command_line("step1_echo", "Step 1 of the tutorial: sends back what it receives.")
      .server(config)
      .try_it("  step1_echo &\n  nc 127.0.0.1 7101")
      .parse(argc, argv);
  try {
    quintet::server server(config, echo());
    example::serve("step1_echo", config, server);
  } catch (...) {
    return example::report_exception("step1_echo");
  }
}
