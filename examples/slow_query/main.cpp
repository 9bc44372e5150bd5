// SPDX-License-Identifier: BSL-1.0
// slow_query: like a database: some queries wait, some compute. The threading model decides which clients they delay.
#include "demo.hpp"
#include "query.hpp"

#include "common/options.hpp"

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7009"});
  config.limits.max_input = 64 * 1024;
  bool demo = false;
  example::command_line("slow_query",
                        "Answers lines 'ping', 'sleep MS' and 'spin MS' on the thread that the model chooses. "
                        "Health checks belong on the priority port, which no query can delay.")
      .server(config)
      .flag("--demo", demo, "run no server; compare the five models, with built-in clients, in about two seconds")
      .try_it("  slow_query --demo\n  slow_query --model single_reactor --priority-port 7010 &\n  nc 127.0.0.1 7009")
      .parse(argc, argv);
  try {
    if (demo) {
      slow_query::demonstrate(config);
      return 0;
    }
    quintet::server server(config, slow_query::session());
    example::serve("slow_query", config, server);
  } catch (...) {
    return example::report_exception("slow_query");
  }
}
