// SPDX-License-Identifier: BSL-1.0
// session: from requests to replies. Nothing is allocated for a reply: its pieces go to the connection's buffer.
#include "session.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace kv {
namespace {

using quintet::connection;
using request = std::span<const bytes>;

// ---- Replies --------------------------------------------------------------------------------------------------------

void write_number(connection& c, char prefix, std::int64_t n) {
  std::array<char, 32> line{prefix};
  char* end = std::to_chars(line.data() + 1, line.data() + line.size() - 2, n).ptr;
  *end++ = '\r';
  *end++ = '\n';
  c.write({line.data(), static_cast<std::size_t>(end - line.data())});
}

void write_bulk(connection& c, bytes value) {
  write_number(c, '$', static_cast<std::int64_t>(value.size()));
  c.write(value);
  c.write("\r\n");
}

// The client's own bytes within a line: none of them may end it.
void write_quoted(connection& c, bytes text) {
  c.write("'");
  for (char ch : text) {
    if (ch == '\r' || ch == '\n') ch = ' ';
    c.write({&ch, 1});
  }
  c.write("'");
}

// ---- Commands -------------------------------------------------------------------------------------------------------

void ping(store&, request r, connection& c) {
  if (r.size() == 1)
    c.write("+PONG\r\n");
  else
    write_bulk(c, r[1]);
}

void reply(connection& c, bytes text) { c.write(text); }

void echo(store&, request r, connection& c) { write_bulk(c, r[1]); }

void get(store& s, request r, connection& c) {
  if (const store::value found = s.get(r[1]))
    write_bulk(c, *found);
  else
    c.write("$-1\r\n");
}

void set(store& s, request r, connection& c) {
  if (r.size() > 3) return reply(c, "-ERR syntax error\r\n");  // none of SET's options is implemented
  s.set(r[1], r[2]);
  c.write("+OK\r\n");
}

void del(store& s, request r, connection& c) {
  write_number(c, ':', std::ranges::count_if(r.subspan(1), [&s](bytes key) { return s.erase(key); }));
}

void exists(store& s, request r, connection& c) {
  write_number(c, ':', std::ranges::count_if(r.subspan(1), [&s](bytes key) { return s.get(key) != nullptr; }));
}

void incr(store& s, request r, connection& c) {
  const auto [value, error] = s.increment(r[1]);
  switch (error) {
    case store::increment_error::none:
      return write_number(c, ':', value);
    case store::increment_error::not_a_number:
      return reply(c, "-ERR value is not an integer or out of range\r\n");
    case store::increment_error::overflow:
      return reply(c, "-ERR increment or decrement would overflow\r\n");
  }
}

bool equal_ignoring_case(bytes a, bytes lower) noexcept {
  const auto same = [](char x, char y) { return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x) == y; };
  return a.size() == lower.size() && std::equal(a.begin(), a.end(), lower.begin(), same);
}

// What redis-benchmark asks before it begins: this store is never saved.
void config(store&, request r, connection& c) {
  if (!equal_ignoring_case(r[1], "get")) return reply(c, "-ERR only CONFIG GET is known here\r\n");
  if (r.size() < 3) return reply(c, "-ERR wrong number of arguments for 'config|get' command\r\n");
  if (equal_ignoring_case(r[2], "save")) return reply(c, "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  if (equal_ignoring_case(r[2], "appendonly")) return reply(c, "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n");
  c.write("*0\r\n");
}

// What redis-cli asks when it is interactive, to help with typing: there is nothing to tell.
void command(store&, request, connection& c) { c.write("*0\r\n"); }

void quit(store&, request, connection& c) {
  c.write("+OK\r\n");
  c.close();
}

struct known_command {
  bytes name;
  std::size_t min, max;  // arguments, the name included
  void (*run)(store&, request, connection&);
};
constexpr std::size_t any = SIZE_MAX;
constexpr std::array<known_command, 10> commands{{
    {"get", 2, 2, get},
    {"set", 3, any, set},
    {"ping", 1, 2, ping},
    {"incr", 2, 2, incr},
    {"del", 2, any, del},
    {"exists", 2, any, exists},
    {"echo", 2, 2, echo},
    {"config", 2, any, config},
    {"command", 1, any, command},
    {"quit", 1, any, quit},
}};

// As Redis says it: enough of the arguments to recognise them.
void unknown(request r, connection& c) {
  constexpr std::size_t shown = 128;
  c.write("-ERR unknown command ");
  write_quoted(c, r[0].substr(0, shown));
  c.write(", with args beginning with: ");
  std::size_t length = 0;
  for (std::size_t i = 1; i < r.size() && length < shown; ++i) {
    const bytes argument = r[i].substr(0, shown - length);
    write_quoted(c, argument);
    c.write(" ");
    length += argument.size() + 3;
  }
  c.write("\r\n");
}

}  // namespace

bool execute(store& data, request r, connection& c) {
  const auto* const found =
      std::ranges::find_if(commands, [&](const known_command& k) { return equal_ignoring_case(r[0], k.name); });
  if (found == commands.end()) {
    unknown(r, c);
  } else if (r.size() >= found->min && r.size() <= found->max) {
    found->run(data, r, c);
    return found->run != quit;
  } else {
    c.write("-ERR wrong number of arguments for '");
    c.write(found->name);
    c.write("' command\r\n");
  }
  return true;
}

std::size_t session::operator()(connection& c, bytes in) {
  for (std::size_t used = 0;; used += parser_.used()) {
    switch (parser_.parse(in.substr(used))) {
      case outcome::incomplete:
        return used;
      case outcome::malformed:
        c.write("-ERR ");
        c.write(parser_.error());
        c.write("\r\n");
        c.close();
        return in.size();
      case outcome::request:
        if (!parser_.arguments().empty() && !execute(store_, parser_.arguments(), c)) return in.size();
    }
  }
}

}  // namespace kv
