// SPDX-License-Identifier: BSL-1.0
// commands: the table of the commands, and those that work with keys. Error texts are those of Redis where it has one.
#include "commands.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

namespace kv {
namespace {

constexpr bytes store_is_full = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
constexpr bytes no_integer = "-ERR value is not an integer or out of range\r\n";

void ping(store&, request r, replies& c) {
  if (r.size() == 1)
    c.write("+PONG\r\n");
  else
    c.write_bulk(r[1]);
}

void reply(replies& c, bytes text) { c.write(text); }

void echo(store&, request r, replies& c) { c.write_bulk(r[1]); }

void get(store& s, request r, replies& c) {
  if (value found = s.get(r[1]))
    c.write_bulk(std::move(found));
  else
    c.write_null();
}

// ---- SET ------------------------------------------------------------------------------------------------------------

constexpr bytes syntax_error = "-ERR syntax error\r\n", bad_lifetime = "-ERR invalid expire time in 'set' command\r\n";

/// Returns the error reply; empty if there is no error.
bytes read_lifetime(bytes text, std::chrono::milliseconds unit, set_options& into) {
  constexpr auto longest = std::chrono::milliseconds(std::chrono::years(100));
  const auto count = to_integer(text);
  if (!count) return no_integer;
  if (*count <= 0 || *count > longest / unit) return bad_lifetime;
  if (into.lifetime) return syntax_error;
  into.lifetime = *count * unit;
  return {};
}

bytes read_condition(set_options::when wanted, set_options& into) {
  if (into.condition != set_options::when::always && into.condition != wanted) return syntax_error;
  into.condition = wanted;
  return {};
}

/// Takes one option from the front of `rest`.
bytes read_option(request& rest, set_options& into) {
  using namespace std::chrono_literals;
  const bytes name = rest[0];
  rest = rest.subspan(1);
  if (equal_ignoring_case(name, "nx")) return read_condition(set_options::when::key_is_new, into);
  if (equal_ignoring_case(name, "xx")) return read_condition(set_options::when::key_exists, into);
  const bool seconds = equal_ignoring_case(name, "ex");
  if (seconds || equal_ignoring_case(name, "px")) {
    if (rest.empty()) return syntax_error;
    const bytes count = rest[0];
    rest = rest.subspan(1);
    return read_lifetime(count, seconds ? 1s : 1ms, into);
  }
  for (const bytes other : {"exat", "pxat", "keepttl", "get"})
    if (equal_ignoring_case(name, other)) return "-ERR of the options of SET, kv has only EX, PX, NX and XX\r\n";
  return syntax_error;
}

void set_with_options(store& s, request r, replies& c) {
  set_options options;
  for (request rest = r.subspan(3); !rest.empty();)
    if (const bytes error = read_option(rest, options); !error.empty()) return reply(c, error);
  switch (s.set(r[1], r[2], options)) {
    case store::set_result::stored:
      return reply(c, "+OK\r\n");
    case store::set_result::condition_failed:
      return c.write_null();
    case store::set_result::store_full:
      return reply(c, store_is_full);
  }
}

void set(store& s, request r, replies& c) {
  if (r.size() > 3) return set_with_options(s, r, c);
  c.write(s.set(r[1], r[2]) ? "+OK\r\n" : store_is_full);
}

// ---- The other commands for keys ------------------------------------------------------------------------------------

void del(store& s, request r, replies& c) {
  c.write_number(':', std::ranges::count_if(r.subspan(1), [&s](bytes key) { return s.erase(key); }));
}

void exists(store& s, request r, replies& c) {
  c.write_number(':', std::ranges::count_if(r.subspan(1), [&s](bytes key) { return bool(s.get(key)); }));
}

void increment(store& s, bytes key, std::int64_t by, replies& c) {
  const auto [value, error] = s.increment(key, by);
  switch (error) {
    case store::increment_error::none:
      return c.write_number(':', value);
    case store::increment_error::not_a_number:
      return reply(c, no_integer);
    case store::increment_error::overflow:
      return reply(c, "-ERR increment or decrement would overflow\r\n");
    case store::increment_error::store_full:
      return reply(c, store_is_full);
  }
}

void incr(store& s, request r, replies& c) { increment(s, r[1], 1, c); }

void incrby(store& s, request r, replies& c) {
  const auto by = to_integer(r[2]);
  if (!by) return reply(c, no_integer);
  increment(s, r[1], *by, c);
}

void dbsize(store& s, request, replies& c) { c.write_number(':', static_cast<std::int64_t>(s.count().keys)); }

// ASYNC and SYNC make no difference here.
void flushall(store& s, request r, replies& c) {
  if (r.size() > 1 && !equal_ignoring_case(r[1], "async") && !equal_ignoring_case(r[1], "sync"))
    return reply(c, syntax_error);
  s.clear();
  c.write("+OK\r\n");
}

void quit(store&, request, replies& c) {
  c.write("+OK\r\n");
  c.close();
}

/// Returns a number for a name of at most eight letters, the same for capitals, which differ in one bit (0x20). Returns
/// 0 for a longer name.
constexpr std::uint64_t packed(bytes name) noexcept {
  std::uint64_t number = 0;
  if (name.size() > sizeof number) return 0;
  for (const char c : name) number = number << 8U | static_cast<unsigned char>(c | 0x20);
  return number;
}

constexpr std::size_t any = SIZE_MAX;
constexpr std::array<known_command, 17> commands{{
    {"get", 2, 2, get},
    {"set", 3, any, set},
    {"ping", 1, 2, ping},
    {"incr", 2, 2, incr},
    {"incrby", 3, 3, incrby},
    {"del", 2, any, del},
    {"exists", 2, any, exists},
    {"dbsize", 1, 1, dbsize},
    {"flushall", 1, 2, flushall},
    {"echo", 2, 2, echo},
    {"hello", 1, any, hello},
    {"client", 2, any, client},
    {"select", 2, 2, select},
    {"config", 2, any, config},
    {"command", 1, any, command},
    {"info", 1, any, info},
    {"quit", 1, any, quit},
}};

constexpr auto packed_names = [] {
  std::array<std::uint64_t, commands.size()> all{};
  std::ranges::transform(commands, all.begin(), [](const known_command& c) { return packed(c.name); });
  return all;
}();
static_assert(std::ranges::find(packed_names, 0U) == packed_names.end());

/// Returns commands.end() for an unknown name.
const known_command* find_command(bytes name) noexcept {
  return commands.begin() + (std::ranges::find(packed_names, packed(name)) - packed_names.begin());
}

// ---- What is no command ---------------------------------------------------------------------------------------------

// Replies as Redis does, with enough of the arguments to recognise them.
void unknown(request r, replies& c) {
  constexpr std::size_t shown = 128;
  c.write("-ERR unknown command ");
  c.write_quoted(r[0].substr(0, shown));
  c.write(", with args beginning with: ");
  std::size_t length = 0;
  for (std::size_t i = 1; i < r.size() && length < shown; ++i) {
    const bytes argument = r[i].substr(0, shown - length);
    c.write_quoted(argument);
    c.write(" ");
    length += argument.size() + 3;
  }
  c.write("\r\n");
}

/// Returns whether a minute has passed since it last returned true, so that an attack does not fill the log.
bool may_report() noexcept {
  constinit static std::atomic<std::int64_t> next{std::numeric_limits<std::int64_t>::min()};
  const std::int64_t now = quintet::clock::system().now().time_since_epoch() / std::chrono::seconds(1);
  std::int64_t due = next.load(std::memory_order_relaxed);
  return now >= due && next.compare_exchange_strong(due, now + 60, std::memory_order_relaxed);
}

// A web page can make its reader's browser send any text to a port of the reader's machine, but only within HTTP. So
// nothing of such a text is carried out. There is no reply, because the page must not learn what listens here.
void refuse_http(replies& c, const quintet::log_hook* log) {
  c.close();
  if (log && may_report())
    quintet::report(*log, {.level = quintet::severity::warning,
                           .what = "closed a client that speaks HTTP, perhaps a web page that attacks this server; "
                                   "others like it are not reported for a minute",
                           .address = c.peer_address()});
}

}  // namespace

std::span<const known_command> known_commands() noexcept { return commands; }

after execute(store& data, request r, replies& c, const quintet::log_hook* log) {
  const known_command* const found = find_command(r[0]);
  if (found != commands.end() && r.size() >= found->min && r.size() <= found->max) {
    found->run(data, r, c);
    return found->run == quit ? after::close : after::next_request;
  }
  if (speaks_http(r)) {
    refuse_http(c, log);
    return after::close;
  }
  if (found == commands.end()) {
    unknown(r, c);
  } else {
    c.write("-ERR wrong number of arguments for '");
    c.write(found->name);
    c.write("' command\r\n");
  }
  return after::next_request;
}

}  // namespace kv
