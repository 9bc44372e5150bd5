// SPDX-License-Identifier: BSL-1.0
// workloads.hpp: what a client sends and what the server does with it, by name; client and server agree through this.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::bench {

/// What the server does with a request before it sends it back.
enum class work_kind {
  echo,      ///< nothing
  cpu,       ///< computes for `cost`
  blocking,  ///< sleeps for `cost`
  mixed,     ///< computes for `cost` where the sequence number is divisible by `dear_every`
  ask,       ///< nothing; but for a request of connection `asking_connection`, see there
  timestamp  ///< adds one: a request is 8 bytes, a time in microseconds, big-endian
};

/// A request is `message_bytes` long: 4 bytes of connection number, 4 of sequence number (both big-endian), the rest a
/// pattern. The reply is the same bytes. But for `timestamp`.
struct workload {
  std::string name;  ///< as it was asked for: "echo", "cpu:200us"
  work_kind kind = work_kind::echo;
  unsigned connections = 100;
  std::size_t message_bytes = 8;
  unsigned pipeline = 1;
  std::optional<unsigned> threads = {};  ///< of the server: so many loops and workers; none: as it is told otherwise
  bool short_connections = false;        ///< connect, one request, close
  bool heartbeat = false;                ///< a probe on the priority port beside the load
  std::chrono::microseconds cost{0};
  unsigned dear_every = 10;
};

constexpr std::size_t header_bytes = 8;
constexpr std::size_t most_message_bytes = std::size_t{64} << 20;
/// The connection number of heartbeats: they cost nothing in any workload.
constexpr std::uint32_t heartbeat_connection = 0xffffffff;
constexpr std::chrono::milliseconds heartbeat_interval{10};
/// In the workload `ask` a request with this connection number is answered by as many bytes as its sequence number
/// says, instead of by itself.
constexpr std::uint32_t asking_connection = 0xfffffffe;

/// "echo", "cpu", "cpu:500us", "blocking:2ms" and so on; nothing where the name or the cost is not known.
std::optional<workload> parse_workload(std::string_view text);
/// The same for a command line: throws usage_error, which lists what there is.
workload require_workload(std::string_view text);
/// The twelve workloads, with the costs "cpu:200us" and "blocking:2ms".
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

/// Of the connection number in a reply: the server is overloaded, and has not done what was asked.
constexpr unsigned char shed_mark = 0x80;

/// Throws usage_error where no client can have this shape of it.
void require_possible(const workload& w);

/// "echo"; "echo (5 connections, 64 B)" where the shape is another than that of the workload of this name.
std::string title(const workload& w);

/// True if the request that begins with this header costs the server `cost`.
bool is_dear(const workload& w, std::string_view message);
/// The same of one that is no heartbeat.
bool is_dear(const workload& w, std::uint32_t sequence);

}  // namespace quintet::bench
