// SPDX-License-Identifier: BSL-1.0
// client_commands: what clients ask before and beside their work with keys.
#include "commands.hpp"

#include <quintet/base/version.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>

namespace kv {
namespace {

std::uint64_t id_of(client_state& client) noexcept {
  static std::atomic<std::uint64_t> last{0};
  if (client.id == 0) client.id = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return client.id;
}

void write_unknown_subcommand(replies& c, bytes name, bytes known) {
  c.write("-ERR unknown subcommand ");
  c.write_quoted(name.substr(0, 128));
  c.write("; kv has only ");
  c.write(known);
  c.write("\r\n");
}

constexpr std::size_t longest_name = 128;  // each client may have one, and no limit of memory counts them

/// Sets the name, or replies with an error and returns false.
bool set_name(replies& c, bytes name) {
  if (name.size() > longest_name) {
    c.write("-ERR Client names cannot have more than 128 bytes.\r\n");
    return false;
  }
  const bool valid = std::ranges::all_of(name, [](char ch) { return ch >= '!' && ch <= '~'; });
  if (valid) c.client().name = name;
  if (!valid) c.write("-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
  return valid;
}

void write_hello(replies& c) {
  c.begin_map(7);
  const auto pair = [&c](bytes name, bytes value) {
    c.write_bulk(name);
    c.write_bulk(value);
  };
  pair("server", "quintet-kv");
  pair("version", QUINTET_VERSION_STRING);
  c.write_bulk("proto");
  c.write_number(':', c.client().resp3 ? 3 : 2);
  c.write_bulk("id");
  c.write_number(':', static_cast<std::int64_t>(id_of(c.client())));
  pair("mode", "standalone");
  pair("role", "master");
  c.write_bulk("modules");
  c.write_number('*', 0);
}

}  // namespace

// HELLO [version [SETNAME name]]. All is checked before the version changes.
void hello(store&, request r, replies& c) {
  if (r.size() == 1) return write_hello(c);
  const auto version = to_integer(r[1]);
  if (!version) return c.write("-ERR Protocol version is not an integer or out of range\r\n");
  if (*version != 2 && *version != 3) return c.write("-NOPROTO unsupported protocol version\r\n");
  for (request rest = r.subspan(2); !rest.empty(); rest = rest.subspan(2)) {
    if (equal_ignoring_case(rest[0], "auth"))
      return c.write("-ERR kv has no passwords; connect without a user and a password\r\n");
    if (!equal_ignoring_case(rest[0], "setname") || rest.size() == 1) {
      c.write("-ERR Syntax error in HELLO option ");
      c.write_quoted(rest[0].substr(0, 128));
      return c.write("\r\n");
    }
    if (!set_name(c, rest[1])) return;
  }
  c.client().resp3 = *version == 3;
  write_hello(c);
}

void client(store&, request r, replies& c) {
  if (equal_ignoring_case(r[1], "id") && r.size() == 2)
    return c.write_number(':', static_cast<std::int64_t>(id_of(c.client())));
  if (equal_ignoring_case(r[1], "getname") && r.size() == 2)
    return c.client().name.empty() ? c.write_null() : c.write_bulk(c.client().name);
  if (equal_ignoring_case(r[1], "setname") && r.size() == 3) {
    if (set_name(c, r[2])) c.write("+OK\r\n");
    return;
  }
  if (equal_ignoring_case(r[1], "setinfo") && r.size() == 4) return c.write("+OK\r\n");  // nobody can ask for it
  write_unknown_subcommand(c, r[1], "CLIENT ID, GETNAME, SETNAME and SETINFO");
}

void select(store&, request r, replies& c) {
  const auto number = to_integer(r[1]);
  if (!number) return c.write("-ERR value is not an integer or out of range\r\n");
  c.write(*number == 0 ? "+OK\r\n" : "-ERR DB index is out of range\r\n");  // kv has database 0 only
}

// redis-benchmark asks this before it begins. The store is never saved.
void config(store& s, request r, replies& c) {
  if (!equal_ignoring_case(r[1], "get")) return write_unknown_subcommand(c, r[1], "CONFIG GET");
  if (r.size() < 3) return c.write("-ERR wrong number of arguments for 'config|get' command\r\n");
  const std::array<std::pair<bytes, std::string>, 4> all{
      {{"save", ""}, {"appendonly", "no"}, {"databases", "1"}, {"maxmemory", std::to_string(s.limit())}}};
  const auto is_wanted = [r](const auto& parameter) {
    return std::ranges::any_of(r.subspan(2),
                               [&](bytes name) { return name == "*" || equal_ignoring_case(name, parameter.first); });
  };
  c.begin_map(static_cast<std::size_t>(std::ranges::count_if(all, is_wanted)));
  for (const auto& parameter : all) {
    if (!is_wanted(parameter)) continue;
    c.write_bulk(parameter.first);
    c.write_bulk(bytes(parameter.second));
  }
}

// redis-cli asks COMMAND DOCS when it is interactive, for its hints. The reply is an empty list.
void command(store&, request r, replies& c) {
  const auto all = known_commands();
  if (r.size() == 2 && equal_ignoring_case(r[1], "count"))
    return c.write_number(':', static_cast<std::int64_t>(all.size()));
  if (r.size() == 2 && equal_ignoring_case(r[1], "list")) {
    c.write_number('*', static_cast<std::int64_t>(all.size()));
    for (const known_command& each : all) c.write_bulk(each.name);
    return;
  }
  if (r.size() == 1 || equal_ignoring_case(r[1], "info")) return c.write("*0\r\n");
  if (equal_ignoring_case(r[1], "docs")) return c.begin_map(0);
  write_unknown_subcommand(c, r[1], "COMMAND COUNT, DOCS, INFO and LIST");
}

// Clients find out by redis_version which commands they may use: 6.0 is the first one with HELLO.
void info(store& s, request r, replies& c) {
  const store::counts counts = s.count();
  const std::string keys = std::to_string(counts.keys), ending = std::to_string(counts.with_lifetime);
  const std::array<std::pair<bytes, std::string>, 3> sections{
      {{"server",
        "# Server\r\nredis_version:6.0.0\r\nredis_mode:standalone\r\nserver_name:quintet-kv\r\n"
        "server_version:" QUINTET_VERSION_STRING "\r\nprocess_id:" +
            std::to_string(::getpid()) + "\r\n"},
       {"memory",
        "# Memory\r\nused_memory:" + std::to_string(s.held()) + "\r\nmaxmemory:" + std::to_string(s.limit()) + "\r\n"},
       {"keyspace",
        "# Keyspace\r\n" +
            (counts.keys == 0 ? std::string() : "db0:keys=" + keys + ",expires=" + ending + ",avg_ttl=0\r\n")}}};
  std::string text;
  for (const auto& [name, section] : sections) {
    const bool wanted = r.size() == 1 || std::ranges::any_of(r.subspan(1), [&n = name](bytes asked) {
                          return equal_ignoring_case(asked, n) || equal_ignoring_case(asked, "all") ||
                                 equal_ignoring_case(asked, "everything") || equal_ignoring_case(asked, "default");
                        });
    if (wanted) text.append(text.empty() ? "" : "\r\n").append(section);
  }
  c.write_bulk(bytes(text));
}

}  // namespace kv
