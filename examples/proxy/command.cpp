// SPDX-License-Identifier: BSL-1.0
// command: turns options into a config, and refuses combinations that make no sense.
#include "proxy/command.hpp"

#include "common/options.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

namespace example::proxy {
namespace {

constexpr std::size_t kib = 1024;

struct numbers {
  std::optional<std::size_t> first_cpu;
  std::size_t window_kib = 256, connect_ms = 3000, header_ms = 5000, idle_s = 300, send_s = 30;
};
struct headers {
  bool v1 = false, v2 = false;
};

[[noreturn]] void refuse(const char* why) {
  std::fprintf(stderr, "proxy: %s\n", why);
  std::exit(2);
}

void set_relay_limits(command& c, const numbers& n) {
  auto& limits = c.config.limits;
  // A relay does not know messages, and in some protocols the server sends first.
  limits.first_byte_timeout = limits.message_timeout = quintet::duration::zero();
  limits.min_receive_rate = 0;
  // Never reached: the windows bound the waiting output, except for input that an engine received before the pause.
  // With io_uring's buffers, that is up to 4 MiB.
  limits.high_watermark = limits.max_output = 8 * (c.relaying.window + kib * kib);
  c.relaying.socket = c.config.listen.front().socket;
  if (!c.relaying.accept_proxy) return;
  for (quintet::listen_options& l : c.config.listen)
    l.proxy = {.trusted = {"0.0.0.0/0", "::/0", "unix:"}, .timeout = std::chrono::milliseconds(n.header_ms)};
}

void resolve_options(command& c, const numbers& n, const headers& send) {
  if (send.v1 && send.v2) refuse("--send-proxy and --send-proxy-v2 exclude each other; give one of them");
  if (c.relaying.upstreams.empty() && (send.v1 || send.v2 || c.relaying.accept_proxy || c.relaying.pool > 0))
    refuse("--pool, --accept-proxy, --send-proxy and --send-proxy-v2 need --upstream");
  if (!c.relaying.upstreams.empty() && c.keep_alive) refuse("--keep-alive is allowed only without --upstream");
  c.relaying.send = send.v1   ? quintet::proxy_version::v1
                    : send.v2 ? quintet::proxy_version::v2
                              : quintet::proxy_version::none;
  c.relaying.window = n.window_kib * kib;
  c.relaying.connect_timeout = std::chrono::milliseconds(n.connect_ms);
  c.config.limits.idle_timeout = std::chrono::seconds(n.idle_s);
  set_send_timeout(c.config, std::chrono::seconds(n.send_s));
  if (!c.relaying.upstreams.empty()) set_relay_limits(c, n);
  const std::size_t cpus = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; n.first_cpu && i < c.config.threads.loops; ++i)
    c.config.placement.cpus.push_back(static_cast<int>((*n.first_cpu + i) % cpus));
}

}  // namespace

command parse(int argc, const char* const* argv) {
  command c;
  numbers n;
  headers send;
  const std::size_t last_cpu = std::max(1U, std::thread::hardware_concurrency()) - 1;
  command_line line("proxy", "Relays TCP connections to --upstream; without it, answers any input with one page.");
  line.letters({{"--loops", 'w'},
                {"--first-cpu", 'c'},
                {"--log", 'o'},
                {"--listen", 'a'},
                {"--upstream", 'x'},
                {"--verbose", 'v'},
                {"--debug", 'd'},
                {"--keep-alive", 'k'}})
      .server(c.config)
      .optional_number("--first-cpu", n.first_cpu, 0, last_cpu, "pin loop 0 to this CPU, loop 1 to the next, ...")
      .destinations("--upstream", c.relaying.upstreams, "server to relay to; also unix:/path; repeatable: used in turn")
      .number("--pool", c.relaying.pool, 0, 1024, "connections to each upstream that each loop makes in advance")
      .flag("--accept-proxy", c.relaying.accept_proxy, "clients begin with a PROXY protocol header, version 1 or 2")
      .flag("--send-proxy", send.v1, "send a PROXY protocol header of version 1 to upstreams")
      .flag("--send-proxy-v2", send.v2, "send a PROXY protocol header of version 2 to upstreams")
      .number("--window-kib", n.window_kib, 16, 64 * kib, "KiB that may be in flight in each direction of a relay")
      .number("--connect-timeout-ms", n.connect_ms, 1, 600'000,
              "time limit for connecting to each upstream, in milliseconds")
      .number("--header-timeout-ms", n.header_ms, 1, 600'000, "time limit for a client's PROXY header, in milliseconds")
      .number("--idle-timeout-s", n.idle_s, 0, 1'000'000,
              "seconds without input or output until a connection is closed; 0: never")
      .number("--send-timeout-s", n.send_s, 0, 1'000'000,
              "seconds until a connection whose peer reads none of its queued output is closed; 0: never")
      .number("--max-connections", c.config.accepting.max_connections, 0, 10'000'000,
              "concurrent clients; others wait in the backlog; 0: no limit")
      .flag("--keep-alive", c.keep_alive, "without --upstream: do not close after the page")
      .flag("--verbose", c.verbose, "print statistics each second")
      .try_it(
          "  proxy -a 127.0.0.1:8081 &                                  # a server of one page\n"
          "  proxy -a 127.0.0.1:7080 -x 127.0.0.1:8081 --verbose &      # a proxy before it\n"
          "  curl -i http://127.0.0.1:7080/")
      .parse(argc, argv);
  c.relaying.debug = line.logs_debug();
  resolve_options(c, n, send);
  return c;
}

}  // namespace example::proxy
