// SPDX-License-Identifier: BSL-1.0
// report: formats the differences of two samples.
#include "proxy/report.hpp"

#include <utility>

namespace example::proxy {
namespace {

std::string number(std::uint64_t n, const char* what) { return std::to_string(n) + " " + what; }

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : std::to_string(100 * part / whole) + " %";
}

std::string line_of(const totals& t) {
  return ", " + number(t.open, "clients open") + ", " + number(t.failures, "upstreams failed") + ", " +
         number(t.unserved, "clients given up") + ", " + number(t.bad_headers, "without a header") + ", " +
         number(t.to_upstreams, "bytes to upstreams") + ", " + number(t.to_clients, "to clients") + ", " +
         number(t.warm, "over warm connections") + ", locality " + percent(t.local, t.relays);
}

std::string line_of(const quintet::loop_statistics& before, const quintet::loop_statistics& now) {
  return number(now.opened - now.closed, "connections, ") + number(now.opened - before.opened, "new, ") +
         number(now.turns - before.turns, "polls, ") + number(now.receives - before.receives, "reads, ") +
         number(now.sends - before.sends, "writes, ") +
         number(now.bytes_received - before.bytes_received, "bytes in, ") +
         number(now.bytes_sent - before.bytes_sent, "out\n");
}

}  // namespace

std::string lines_between(const sample& before, const sample& now, const totals* relays) {
  std::string text = number(now.requests - before.requests, "requests/s, ") +
                     number(now.accepted - before.accepted, "accepted, ") +
                     percent(now.accepted_locally, now.accepted) + " of all on their CPU";
  text += relays ? line_of(*relays) : std::string();
  text += "\n";
  for (std::size_t i = 0; i < now.loops.size(); ++i) {
    text += now.loops.size() == 1 ? "  all loops: "
            : i == 0              ? "  main loop: "
                                  : "  loop " + std::to_string(i - 1) + ": ";
    text += line_of(i < before.loops.size() ? before.loops[i] : quintet::loop_statistics(), now.loops[i]);
  }
  return text;
}

}  // namespace example::proxy
