// SPDX-License-Identifier: BSL-1.0
// step1_echo: step 1 of the tutorial: a server that sends back what it receives, in one file.
#include <quintet/threadmodels/server.hpp>

struct echo {
  void operator()(quintet::connection& c, quintet::bytes in) const { c.write(in); }
};

int main(int argc, char** argv) {
  quintet::config config;
  config.listen = {argc > 1 ? argv[1] : "127.0.0.1:7101"};
  quintet::server server(config, echo());
  quintet::stop_on_signals stopper(server);
  server.run();
}
