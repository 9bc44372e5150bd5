// SPDX-License-Identifier: BSL-1.0
// kv: a small server of the Redis protocol with keys and values in memory, for redis-cli and redis-benchmark.
#include "session.hpp"

#include "common/options.hpp"
#include "common/tls_options.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace {

// Throws config_error.
void add_tls_listener(quintet::config& c, std::size_t port, const example::tls_files& files) {
  const auto tls = files.context();
  if (!tls) throw quintet::config_error("--tls-port is set; --tls-cert and --tls-key must be set, too");
  const std::string host = quintet::address(c.listen.front().at).host();
  if (host.empty()) throw quintet::config_error("--tls-port is set; the first address must be of IP");
  c.listen.emplace_back(quintet::join_address(host, static_cast<std::uint16_t>(port)),
                        quintet::listener_settings{.tls = tls});
}

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:6380"});
  kv::limits limits;
  constexpr std::size_t megabyte = 1024 * 1024, gigabyte = 1024 * megabyte;
  std::optional<std::size_t> request, input_total_mib, output_total_mib;
  std::size_t max_memory_mib = 256, send_timeout_s = 30, idle_timeout_s = 300, spin_us = 0;
  std::string unix_path;
  example::tls_files tls;
  std::optional<std::size_t> tls_port;
  example::command_line line(
      "kv",
      "Keys and values in memory, over the Redis protocol, version 2 or 3: GET, SET (EX PX NX XX), DEL, "
      "EXISTS, INCR, INCRBY, DBSIZE, FLUSHALL, PING, ECHO, QUIT, and what clients ask when they "
      "connect: HELLO, CLIENT, SELECT 0, CONFIG GET, COMMAND, INFO. No passwords, no other types.");
  tls.add_to(line, "for --tls-port");
  line.server(config)
      .number("--max-arguments", limits.arguments, 4, 1'000'000, "largest number of arguments of one request")
      .number("--max-bulk", limits.bulk, 1, gigabyte, "largest argument, in bytes")
      .optional_number("--max-request", request, 1, 2 * gigabyte,
                       "largest size of all arguments of one request, in bytes; none: twice --max-bulk")
      .number("--max-memory-mib", max_memory_mib, 1, 1024 * 1024,
              "MiB of all keys and values, above which SET is refused")
      .optional_number("--max-input-total-mib", input_total_mib, 1, 1024 * 1024,
                       "MiB of unfinished requests of all clients; none: 512, and at least four of the largest")
      .optional_number("--max-output-total-mib", output_total_mib, 1, 1024 * 1024,
                       "MiB of replies that wait for all clients; none: 512, and at least four of the largest")
      .number("--send-timeout-s", send_timeout_s, 1, 3600,
              "seconds until a client that reads none of its replies is closed")
      .number("--idle-timeout-s", idle_timeout_s, 0, 1'000'000, "seconds until a silent client is closed; 0: never")
      .text("--unix", unix_path, "also serve clients on this host at unix:PATH, by socket and by shared memory", "PATH")
      .optional_number("--tls-port", tls_port, 0, 65535,
                       "also serve clients by TLS at this port of the first address; none: no TLS")
      .number("--spin-us", spin_us, 0, 100'000,
              "microseconds for which a loop looks for work before it sleeps; for shared memory")
      .try_it(
          "  kv --model loop_per_thread &\n  redis-cli -p 6380 set planet Mars\n"
          "  redis-benchmark -p 6380 -t ping,set,get -c 100 -n 100000 -P 16")
      .parse(argc, argv);
  example::set_send_timeout(config, std::chrono::seconds(send_timeout_s));
  config.limits.idle_timeout = config.limits.first_byte_timeout = std::chrono::seconds(idle_timeout_s);
  limits.request = request.value_or(2 * limits.bulk);
  kv::set_sizes(config.limits, config.memory, limits);
  if (input_total_mib) config.memory.max_input_total = *input_total_mib * megabyte;
  if (output_total_mib) config.memory.max_output_total = *output_total_mib * megabyte;
  config.accepting.refuse_when_full = true;
  config.accepting.on_refused = [](quintet::error_code, const quintet::address&) {
    return "-ERR max number of clients reached\r\n";
  };
  config.advanced.loop.spin = std::chrono::microseconds(spin_us);
  if (!unix_path.empty())
    config.listen.emplace_back("unix:" + unix_path,
                               quintet::listener_settings{.upgrade = quintet::connection_upgrade::shared_memory});
  try {
    if (tls_port) add_tls_listener(config, *tls_port, tls);
    kv::store store(max_memory_mib * megabyte);
    quintet::server server(config, kv::session(store, limits, &config.log));
    example::serve("kv", config, server);
  } catch (...) {
    return example::report_exception("kv");
  }
}
