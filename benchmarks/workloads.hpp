// SPDX-License-Identifier: BSL-1.0
// workloads.hpp: named workloads: what a client sends and what
// the server does with it. Both sides use these definitions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::bench {

/// What the server does with a request before it sends the reply.
enum class work_kind {
  echo,       ///< nothing
  cpu,        ///< computes for `cost`
  blocking,   ///< sleeps for `cost`
  mixed,      ///< computes for `cost` where the sequence number is divisible by `expensive_every`
  ask,        ///< nothing; requests of connection `asking_connection` are special, see there
  timestamp,  ///< adds one: a request is 8 bytes, a time in microseconds, big-endian
  framed      ///< nothing; a request begins with a length prefix, and so does the reply
};

/// A request is `message_bytes` long: 4 bytes connection number, 4 bytes sequence number (both big-endian), then a
/// pattern. The reply is the same bytes. `timestamp` differs. In `framed`, these bytes follow their length.
struct workload {
  std::string name;  ///< as the user wrote it: "echo", "cpu:200us"
  work_kind kind = work_kind::echo;
  unsigned connections = 100;
  std::size_t message_bytes = 8;
  unsigned pipeline = 1;
  bool short_connections = false;  ///< connect, one request, close
  bool heartbeat = false;          ///< a probe on the priority port runs beside the load
  std::chrono::microseconds cost{0};
  unsigned expensive_every = 10;
};

constexpr std::size_t header_bytes = 8;
/// Returns the bytes of a request's length prefix, big-endian. It counts the bytes behind it.
constexpr std::size_t prefix_bytes(work_kind kind) { return kind == work_kind::framed ? 2 : 0; }
constexpr std::size_t most_message_bytes = std::size_t{64} << 20;
/// The connection number of heartbeats. They cost nothing in any workload.
constexpr std::uint32_t heartbeat_connection = 0xffffffff;
constexpr std::chrono::milliseconds heartbeat_interval{10};
/// In the workload `ask`, the reply to a request with this connection number is as long as its sequence number says.
/// Other requests are echoed.
constexpr std::uint32_t asking_connection = 0xfffffffe;

/// Parses "echo", "cpu", "cpu:500us", "blocking:2ms" and so on. Returns nullopt if the name or the cost is unknown.
std::optional<workload> parse_workload(std::string_view text);
/// Parses a command line's value. Throws usage_error, which lists the workloads.
workload require_workload(std::string_view text);
/// Returns the thirteen workloads, with the costs "cpu:200us" and "blocking:2ms".
std::vector<workload> default_workloads();

constexpr std::uint32_t load_big_endian(const char* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

constexpr void store_big_endian(char* to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) *to++ = static_cast<char>(value >> shift);
}

constexpr std::uint64_t load_big_endian_64(const char* from) {
  return std::uint64_t{load_big_endian(from)} << 32 | load_big_endian(from + 4);
}

constexpr void store_big_endian_64(char* to, std::uint64_t value) {
  store_big_endian(to, static_cast<std::uint32_t>(value >> 32));
  store_big_endian(to + 4, static_cast<std::uint32_t>(value));
}

/// Inverts a bit of the first byte in a reply: the server is overloaded and has not processed the request.
constexpr unsigned char shed_mark = 0x80;

/// Throws usage_error if no client can run the workload in this shape.
void require_possible(const workload& w);

/// Returns true if the request that begins with this header costs the server `cost`.
bool is_expensive(const workload& w, std::string_view message);
/// Returns the same for a request that is not a heartbeat.
bool is_expensive(const workload& w, std::uint32_t sequence);

}  // namespace quintet::bench
