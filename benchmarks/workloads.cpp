// SPDX-License-Identifier: BSL-1.0
// workloads.cpp: the table of workloads and the parsing of their names.
#include "workloads.hpp"

#include "options.hpp"

#include <algorithm>

namespace quintet::bench {
namespace {

using std::chrono::microseconds;

constexpr std::string_view hello = "Hello World";

/// Only these take a cost after the colon. The others would ignore it silently, so they reject it.
bool takes_cost(const workload& w) { return w.kind == work_kind::cpu || w.kind == work_kind::blocking; }

std::string_view family(std::string_view name) { return name.substr(0, name.find(':')); }

}  // namespace

std::vector<workload> default_workloads() {
  using enum work_kind;
  using namespace std::chrono_literals;
  return {
      {.name = "echo"},
      {.name = "latency", .connections = 1},
      {.name = "large", .message_bytes = 16 * 1024},
      {.name = "pipeline", .connections = 50, .message_bytes = 64, .pipeline = 64},
      {.name = "many", .connections = 5000},
      {.name = "short", .connections = 50, .message_bytes = 64, .short_connections = true},
      {.name = "cpu:200us", .kind = cpu, .connections = 50, .message_bytes = 64, .cost = 200us},
      {.name = "blocking:2ms", .kind = blocking, .connections = 50, .message_bytes = 64, .cost = 2ms},
      {.name = "mixed", .kind = mixed, .connections = 50, .message_bytes = 64, .cost = 5ms},
      {.name = "heartbeat", .kind = mixed, .connections = 50, .message_bytes = 64, .heartbeat = true, .cost = 5ms},
      {.name = "ask", .kind = ask, .message_bytes = 64},
      {.name = "timestamp", .kind = timestamp, .message_bytes = header_bytes},
      {.name = "framed", .kind = framed, .connections = 1000, .message_bytes = prefix_bytes(framed) + hello.size()},
  };
}

std::optional<workload> parse_workload(std::string_view text) {
  const auto all = default_workloads();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const workload& w) { return family(w.name) == family(text); });
  if (found == all.end()) return std::nullopt;
  workload w = *found;
  if (const auto colon = text.find(':'); colon != text.npos) {
    if (!takes_cost(w)) return std::nullopt;
    try {
      w.cost = std::chrono::duration_cast<microseconds>(parse_duration(text.substr(colon + 1)));
    } catch (const usage_error&) {
      return std::nullopt;
    }
    w.name = text;
  }
  return w;
}

workload require_workload(std::string_view text) {
  if (auto w = parse_workload(text)) return *std::move(w);
  std::string names;
  for (const workload& w : default_workloads()) names += (names.empty() ? "" : ", ") + w.name;
  throw usage_error('"' + std::string(text) + "\" is not a workload; it must be one of: " + names +
                    " (cpu and blocking take any cost, as in cpu:500us)");
}

void require_possible(const workload& w) {
  constexpr std::size_t prefix = prefix_bytes(work_kind::framed), longest = 0xffff;
  if (w.kind == work_kind::framed && (w.message_bytes < prefix + header_bytes || w.message_bytes > prefix + longest))
    throw usage_error("framed: a request is a length of 2 bytes and 8 to 65535 more; --size must be from 10 to 65537");
  if (w.kind != work_kind::timestamp) return;
  if (w.message_bytes != header_bytes)
    throw usage_error("timestamp: a request is a number of 8 bytes; --size must be 8");
  if (w.short_connections) throw usage_error("timestamp: short connections only echo, so it has none");
}

bool is_expensive(const workload& w, std::string_view message) {
  const char* const connection = message.data();
  const char* const sequence = connection + 4;
  return load_big_endian(connection) != heartbeat_connection && is_expensive(w, load_big_endian(sequence));
}

bool is_expensive(const workload& w, std::uint32_t sequence) {
  if (w.kind == work_kind::mixed) return sequence % w.expensive_every == 0;
  return w.kind == work_kind::cpu || w.kind == work_kind::blocking;
}

}  // namespace quintet::bench
