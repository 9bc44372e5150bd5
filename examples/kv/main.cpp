// SPDX-License-Identifier: BSL-1.0
// kv: a small server of the Redis protocol: keys and values in memory, for redis-cli and redis-benchmark.
#include "session.hpp"

#include "common/options.hpp"

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:6380"});
  kv::limits limits;
  constexpr std::size_t gigabyte = 1024 * 1024 * 1024;
  example::command_line("kv",
                        "Keys and values in memory, over the Redis protocol: PING ECHO GET SET DEL EXISTS INCR "
                        "CONFIG GET, COMMAND, QUIT.")
      .server(config)
      .number("--max-arguments", limits.arguments, 4, 1'000'000, "arguments of one request")
      .number("--max-bulk", limits.bulk, 1, gigabyte, "bytes of one argument")
      .number("--max-request", limits.request, 1, gigabyte, "bytes of all arguments of one request")
      .try_it(
          "  kv --model loop_per_thread &\n  redis-cli -p 6380 set planet Mars\n"
          "  redis-benchmark -p 6380 -t ping,set,get -c 100 -n 100000 -P 16")
      .parse(argc, argv);
  config.limits.max_input = kv::max_input(limits);
  try {
    kv::store store;
    quintet::server server(config, kv::session(store, limits));
    example::serve("kv", config, server);
  } catch (...) {
    return example::report_exception("kv");
  }
}
