// SPDX-License-Identifier: BSL-1.0
// step7_database: step 7 of the tutorial: a small database server with login, cursors, an admin port and a clean end.
#include "session.hpp"

#include "common/options.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace {

quintet::config defaults() {
  auto config = quintet::config::public_defaults({"127.0.0.1:7107"});
  config.model = quintet::model::loop_per_thread_pool;
  config.accepting.max_connections = 1000;
  config.limits.max_input = 64 * 1024;
  config.limits.high_watermark = 64 * 1024;
  config.limits.low_watermark = 16 * 1024;
  config.limits.idle_timeout = std::chrono::seconds(30);  // until the login
  return config;
}

void add_example_rows(tutorial::database& data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!data.insert("numbers", std::to_string(i) + " " + std::to_string(i * i))) return;
}

}  // namespace

int main(int argc, char** argv) {
  auto config = defaults();
  std::size_t rows = 1000, drain_s = 5;
  example::command_line("step7_database", "Step 7 of the tutorial: a small database server.")
      .server(config)
      .number("--rows", rows, 0, 10'000'000, "rows of the table 'numbers'")
      .number("--drain-s", drain_s, 0, 3600, "seconds that 'drain' gives to the clients")
      .try_it("  step7_database --priority-port 7117 &\n  tutorial_ask 7107 'login ann secret' 'scan numbers 990'")
      .parse(argc, argv);
  try {
    tutorial::service all;
    all.passwords = {{"ann", "secret"}};
    add_example_rows(all.data, rows);
    quintet::server server(config, tutorial::make_sessions(all));
    all.admin_port = server.priority_port();
    all.drain = [&server, drain_s] { server.drain(std::chrono::seconds(drain_s)); };
    all.status = [&server, &all] {
      const auto now = server.statistics();
      return std::to_string(all.data.rows()) + " rows, " + std::to_string(server.connections().size()) +
             " connections, " + std::to_string(now.bytes_sent) + " bytes sent";
    };
    example::serve("step7_database", config, server);
  } catch (...) {
    return example::report_exception("step7_database");
  }
}
