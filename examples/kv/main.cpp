// SPDX-License-Identifier: BSL-1.0
// kv: a small server of the Redis protocol with keys and values in memory, for redis-cli and redis-benchmark.
#include "session.hpp"

#include "common/options.hpp"

#include <chrono>
#include <cstddef>
#include <string>

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:6380"});
  kv::limits limits;
  constexpr std::size_t megabyte = 1024 * 1024, gigabyte = 1024 * megabyte;
  std::size_t max_memory_mib = 256, send_timeout_s = 30, idle_timeout_s = 300, spin_us = 0;
  std::string unix_path;
  example::command_line("kv",
                        "Keys and values in memory, over the Redis protocol: PING ECHO GET SET DEL EXISTS INCR "
                        "CONFIG GET, COMMAND, QUIT.")
      .server(config)
      .number("--max-arguments", limits.arguments, 4, 1'000'000, "largest number of arguments of one request")
      .number("--max-bulk", limits.bulk, 1, gigabyte, "largest argument, in bytes")
      .number("--max-request", limits.request, 1, gigabyte, "largest size of all arguments of one request, in bytes")
      .number("--max-memory-mib", max_memory_mib, 1, 1024 * 1024,
              "MiB of all keys and values, above which SET is refused")
      .number("--send-timeout-s", send_timeout_s, 1, 3600,
              "seconds until a client that reads none of its replies is closed")
      .number("--idle-timeout-s", idle_timeout_s, 0, 1'000'000, "seconds until a silent client is closed; 0: never")
      .text("--unix", unix_path, "also serve clients on this host at unix:PATH, by socket and by shared memory", "PATH")
      .number("--spin-us", spin_us, 0, 100'000,
              "microseconds for which a loop looks for work before it sleeps; for shared memory")
      .try_it(
          "  kv --model loop_per_thread &\n  redis-cli -p 6380 set planet Mars\n"
          "  redis-benchmark -p 6380 -t ping,set,get -c 100 -n 100000 -P 16")
      .parse(argc, argv);
  example::set_send_timeout(config, std::chrono::seconds(send_timeout_s));
  config.limits.idle_timeout = std::chrono::seconds(idle_timeout_s);
  config.limits.max_input = kv::max_input(limits);
  config.limits.max_output = kv::max_output(limits, config.limits.high_watermark);
  config.advanced.loop.spin = std::chrono::microseconds(spin_us);
  if (!unix_path.empty())
    config.listen.emplace_back("unix:" + unix_path,
                               quintet::listener_settings{.upgrade = quintet::connection_upgrade::shared_memory});
  try {
    kv::store store(max_memory_mib * megabyte);
    quintet::server server(config, kv::session(store, limits));
    example::serve("kv", config, server);
  } catch (...) {
    return example::report_exception("kv");
  }
}
