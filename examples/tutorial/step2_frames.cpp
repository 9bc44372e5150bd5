// SPDX-License-Identifier: BSL-1.0
// step2_frames: step 2 of the tutorial: messages instead of bytes.
#include "common/options.hpp"
#include "tutorial/wire.hpp"

namespace {

struct measure {
  void operator()(quintet::connection& c, quintet::bytes message) const {
    tutorial::reply(c, std::to_string(message.size()) + " bytes");
  }
};

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7102"});
  example::command_line("step2_frames", "Step 2 of the tutorial: answers each message with its length.")
      .server(config)
      .try_it("  step2_frames &\n  tutorial_ask 7102 hello")
      .parse(argc, argv);
  try {
    quintet::server server(config, quintet::framed(tutorial::wire, measure()));
    example::serve("step2_frames", config, server);
  } catch (...) {
    return example::report_exception("step2_frames");
  }
}
