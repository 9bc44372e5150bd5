// SPDX-License-Identifier: BSL-1.0
// session: carries out requests. Small replies are copied into the connection's buffer; stored values are shared.
#include "session.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace kv {
namespace {

using request = std::span<const bytes>;

// ---- Replies --------------------------------------------------------------------------------------------------------

void write_number(replies& c, char prefix, std::int64_t n) {
  std::array<char, 32> line{prefix};
  char* end = std::to_chars(line.data() + 1, line.data() + line.size() - 2, n).ptr;
  *end++ = '\r';
  *end++ = '\n';
  c.write({line.data(), static_cast<std::size_t>(end - line.data())});
}

void write_bulk(replies& c, bytes value) {
  write_number(c, '$', static_cast<std::int64_t>(value.size()));
  c.write(value);
  c.write("\r\n");
}

// Sends a stored value without a copy, so that the value is in memory once for all clients.
void write_bulk(replies& c, store::value found) {
  write_number(c, '$', static_cast<std::int64_t>(found->size()));
  c.write(std::move(found));
  c.write("\r\n");
}

// Writes bytes of the client within a line. CR and LF become blanks, so that they cannot end the line.
void write_quoted(replies& c, bytes text) {
  c.write("'");
  for (char ch : text) {
    if (ch == '\r' || ch == '\n') ch = ' ';
    c.write({&ch, 1});
  }
  c.write("'");
}

constexpr bytes store_is_full = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";

// ---- Commands -------------------------------------------------------------------------------------------------------

void ping(store&, request r, replies& c) {
  if (r.size() == 1)
    c.write("+PONG\r\n");
  else
    write_bulk(c, r[1]);
}

void reply(replies& c, bytes text) { c.write(text); }

void echo(store&, request r, replies& c) { write_bulk(c, r[1]); }

void get(store& s, request r, replies& c) {
  if (store::value found = s.get(r[1]))
    write_bulk(c, std::move(found));
  else
    c.write("$-1\r\n");
}

void set(store& s, request r, replies& c) {
  if (r.size() > 3) return reply(c, "-ERR syntax error\r\n");  // none of SET's options is implemented
  c.write(s.set(r[1], r[2]) ? "+OK\r\n" : store_is_full);
}

void del(store& s, request r, replies& c) {
  write_number(c, ':', std::ranges::count_if(r.subspan(1), [&s](bytes key) { return s.erase(key); }));
}

void exists(store& s, request r, replies& c) {
  write_number(c, ':', std::ranges::count_if(r.subspan(1), [&s](bytes key) { return s.get(key) != nullptr; }));
}

void incr(store& s, request r, replies& c) {
  const auto [value, error] = s.increment(r[1]);
  switch (error) {
    case store::increment_error::none:
      return write_number(c, ':', value);
    case store::increment_error::not_a_number:
      return reply(c, "-ERR value is not an integer or out of range\r\n");
    case store::increment_error::overflow:
      return reply(c, "-ERR increment or decrement would overflow\r\n");
    case store::increment_error::store_full:
      return reply(c, store_is_full);
  }
}

bool equal_ignoring_case(bytes a, bytes lower) noexcept {
  const auto same = [](char x, char y) { return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x) == y; };
  return a.size() == lower.size() && std::equal(a.begin(), a.end(), lower.begin(), same);
}

// redis-benchmark asks this before it begins. The store is never saved.
void config(store&, request r, replies& c) {
  if (!equal_ignoring_case(r[1], "get")) return reply(c, "-ERR only CONFIG GET is known here\r\n");
  if (r.size() < 3) return reply(c, "-ERR wrong number of arguments for 'config|get' command\r\n");
  if (equal_ignoring_case(r[2], "save")) return reply(c, "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  if (equal_ignoring_case(r[2], "appendonly")) return reply(c, "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n");
  c.write("*0\r\n");
}

// redis-cli asks this when it is interactive, for its hints. The reply is an empty list.
void command(store&, request, replies& c) { c.write("*0\r\n"); }

void quit(store&, request, replies& c) {
  c.write("+OK\r\n");
  c.close();
}

struct known_command {
  bytes name;
  std::size_t min, max;  // arguments, the name included
  void (*run)(store&, request, replies&);
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

// Replies as Redis does, with enough of the arguments to recognise them.
void unknown(request r, replies& c) {
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

bool execute(store& data, request r, replies& c) {
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

// The session keeps postponed requests. The connection would offer them again only when more input arrives, so a client
// that has sent all of its requests would wait forever.
std::size_t session::operator()(quintet::connection& c, bytes in) {
  if (!put_off_.empty()) {
    put_off_.erase(0, std::exchange(put_off_used_, 0));
    put_off_.append(in);
    carry_out_put_off(c);
    return in.size();
  }
  const progress made = carry_out(c, in);
  if (!made.full) return made.used;
  put_off_.assign(in.substr(made.used));
  c.count_kept_input(put_off_.capacity());
  return in.size();
}

void session::on_writable(quintet::connection& c) { carry_out_put_off(c); }

void session::carry_out_put_off(quintet::connection& c) {
  const progress made = carry_out(c, bytes(put_off_).substr(put_off_used_));
  put_off_used_ += made.used;
  if (put_off_used_ == put_off_.size()) {
    std::string().swap(put_off_);
    put_off_used_ = 0;
  } else if (!made.full) {
    c.mark_incomplete(made.any);  // the connection itself holds no unused input
  }
  c.count_kept_input(put_off_.capacity());
}

// Checks writable() after each 16 KiB of replies, not after each reply.
session::progress session::carry_out(quintet::connection& c, bytes in) {
  constexpr std::size_t between_looks = 16 * 1024;
  replies to(c);
  for (progress made;; made.used += parser_.used(), made.any = true) {
    if (to.written() >= between_looks) {
      to.begin_again();
      if (made.full = !c.writable(); made.full) return made;
    }
    switch (parser_.parse(in.substr(made.used))) {
      case outcome::incomplete:
        return made;
      case outcome::malformed:
        to.write("-ERR ");
        to.write(parser_.error());
        to.write("\r\n");
        c.close();
        return {.used = in.size()};
      case outcome::request:
        if (!parser_.arguments().empty() && !execute(store_, parser_.arguments(), to)) return {.used = in.size()};
    }
  }
}

}  // namespace kv
