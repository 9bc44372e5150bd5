// SPDX-License-Identifier: BSL-1.0
// step: generates sequences, and prints steps.
#include "step.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <string_view>

namespace quintet::testing {
namespace {

using namespace std::chrono_literals;

template <class What>
struct row {
  What what;
  unsigned weight;  // relative frequency
  std::string_view name;
};

/// Returns whether the table has all enumerators in order, because they index it.
template <class Table>
constexpr bool is_complete(const Table& table) {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].what) != i || table[i].name.empty()) return false;
  return true;
}

constexpr std::array<row<action>, actions> action_table{{
    {action::reply, 60, "reply"},
    {action::reply_shared, 10, "reply_shared"},
    {action::reply_string, 10, "reply_string"},
    {action::reply_pieces, 10, "reply_pieces"},
    {action::reply_parts, 10, "reply_parts"},
    {action::reply_long, 8, "reply_long"},
    {action::until_full, 10, "until_full"},
    {action::when_sent, 15, "when_sent"},
    {action::flush, 10, "flush"},
    {action::corked, 8, "corked"},
    {action::close, 1, "close"},
    {action::ends, 1, "ends"},
    {action::close_with_error, 1, "close_with_error"},
    {action::shutdown_send, 2, "shutdown_send"},
    {action::pause, 3, "pause"},
    {action::pause_for, 6, "pause_for"},
    {action::resume, 6, "resume"},
    {action::leave_unused, 5, "leave_unused"},
    {action::expect_more, 5, "expect_more"},
    {action::set_limits, 5, "set_limits"},
    {action::set_times, 3, "set_times"},
    {action::throttle_source, 3, "throttle_source"},
    {action::move_to_priority_loop, 5, "move_to_priority_loop"},
    {action::move_to, 15, "move_to"},
    {action::throws, 1, "throws"},
    {action::send_to, 10, "send_to"},
    {action::post_to, 10, "post_to"},
    {action::broadcast, 3, "broadcast"},
    {action::close_other, 1, "close_other"},
    {action::abort_other, 1, "abort_other"},
    {action::cancel_other, 6, "cancel_other"},
    {action::cancel_on, 3, "cancel_on"},
    {action::connect_out, 4, "connect_out"},
    {action::dawdle, 10, "dawdle"},
    {action::offload, 15, "offload"},
    {action::sleep, 10, "sleep"},
    {action::sleep_until_deadline, 6, "sleep_until_deadline"},
    {action::read_by, 4, "read_by"},
    {action::read_exactly, 4, "read_exactly"},
    {action::read_until, 4, "read_until"},
    {action::read_message, 4, "read_message"},
    {action::read, 4, "read"},
}};
static_assert(is_complete(action_table));

constexpr std::array<row<event>, events> event_table{{
    {event::connect, 24, "connect"},
    {event::command, 200, "command"},
    {event::deliver, 40, "deliver"},
    {event::post, 30, "post"},
    {event::send, 30, "send"},
    {event::broadcast, 5, "broadcast"},
    {event::close, 3, "close"},
    {event::abort, 2, "abort"},
    {event::receive, 20, "receive"},
    {event::reads, 12, "reads"},
    {event::stops_reading, 8, "stops reading"},
    {event::half_close, 4, "half-close"},
    {event::peer_close, 3, "peer closes"},
    {event::reset, 2, "reset"},
    {event::wait, 60, "wait"},
    {event::settle, 20, "settle"},
    {event::drain, 0, "drain"},
    {event::stop, 0, "stop"},
}};
static_assert(is_complete(event_table));

template <class Table>
auto pick(const Table& table, std::mt19937_64& random) {
  unsigned sum = 0;
  for (const auto& entry : table) sum += entry.weight;
  std::uint64_t at = random() % sum;
  for (const auto& entry : table) {
    if (at < entry.weight) return entry.what;
    at -= entry.weight;
  }
  return table.front().what;
}

constexpr std::array<std::uint32_t, 6> waits{5, 50, 200, 700, 1100, 3000};

step make_step(std::mt19937_64& random) {
  step s{.what = pick(event_table, random), .does = pick(action_table, random)};
  s.who = static_cast<std::uint8_t>(random() % places);
  const std::uint64_t pace = random() % 10;
  s.turns = pace < 3 ? until_rest : static_cast<std::uint8_t>(random() % (pace < 6 ? 2 : 12));
  s.amount = static_cast<std::uint32_t>(random() % 0x10000);
  if (s.what == event::wait) s.amount = waits[random() % waits.size()];
  if (s.what == event::send || s.what == event::broadcast)
    s.amount = static_cast<std::uint32_t>(random() % (random() % 8 == 0 ? 40'000 : 600));
  if (s.what == event::command) {
    s.extra = static_cast<std::uint32_t>(random() % (random() % 20 == 0 ? 1000 : 60));
    if (random() % 5 == 0) s.extra += 1000 * static_cast<std::uint32_t>(1 + random() % 40);
  }
  return s;
}

std::string name_of(event e) { return std::string(event_table.at(static_cast<std::size_t>(e)).name); }

}  // namespace

// No default: the compiler warns about a missing event.
actor actor_of(event e) {
  switch (e) {
    case event::connect:
    case event::command:
    case event::deliver:
    case event::receive:
    case event::reads:
    case event::stops_reading:
    case event::half_close:
    case event::peer_close:
    case event::reset:
      return actor::client;
    case event::post:
    case event::send:
    case event::close:
    case event::abort:
      return actor::outsider;
    case event::broadcast:
    case event::wait:
    case event::settle:
    case event::drain:
    case event::stop:
    case event::count:
      break;
  }
  return actor::world;
}

std::string to_string(action a) { return std::string(action_table.at(static_cast<std::size_t>(a)).name); }

std::string to_string(const step& s) {
  std::string text = name_of(s.what);
  if (s.what == event::wait) return text + " " + std::to_string(s.amount) + " ms";
  if (actor_of(s.what) != actor::world) text += " [" + std::to_string(s.who) + "]";
  if (s.what == event::command || s.what == event::post)
    text += " " + to_string(s.does) + "(" + std::to_string(s.amount) + ")";
  if (s.what == event::command) text += ", filler " + std::to_string(s.extra % 1000);
  if (s.what == event::command && s.extra >= 1000) text += ", keeps back " + std::to_string(s.extra / 1000);
  if (s.what == event::send || s.what == event::broadcast || s.what == event::receive || s.what == event::connect ||
      s.what == event::deliver)
    text += " " + std::to_string(s.amount);
  return text + (s.turns == until_rest ? "; rest" : "; " + std::to_string(s.turns) + " turns");
}

void vary_limits(connection_limits& l, std::uint32_t kind) {
  constexpr std::array<std::size_t, 4> highs{2048, 8192, 30'000, 100'000};
  l.high_watermark = highs[kind / 8 % highs.size()];
  l.low_watermark = l.high_watermark / (kind / 32 % 2 == 0 ? 2 : 8);
  l.max_output = kind / 64 % 4 == 0 ? 200'000 : 2'000'000;
  constexpr std::array<overflow_policy, 8> policies{
      overflow_policy::pause, overflow_policy::pause, overflow_policy::pause, overflow_policy::pause,
      overflow_policy::pause, overflow_policy::drop,  overflow_policy::error, overflow_policy::close};
  l.overflow = policies[kind % policies.size()];
}

void vary_times(connection_limits& l, std::uint32_t kind) {
  l.first_byte_timeout = kind % 3 == 0 ? 2s : 0s;
  l.idle_timeout = kind / 3 % 2 == 0 ? 4s : 0s;
  l.send_timeout = kind / 6 % 2 == 0 ? 3s : 0s;
  l.message_timeout = kind / 12 % 2 == 0 ? 2s : 0s;
}

std::string to_string(const connection_limits& l) {
  constexpr std::array<const char*, 4> policies{"pause", "drop", "error", "close"};
  const auto ms = [](duration d) { return std::to_string(d / 1ms) + " ms"; };
  return "high " + std::to_string(l.high_watermark) + ", low " + std::to_string(l.low_watermark) + ", max_output " +
         std::to_string(l.max_output) + ", " + policies.at(static_cast<std::size_t>(l.overflow)) + ", first byte " +
         ms(l.first_byte_timeout) + ", idle " + ms(l.idle_timeout) + ", send " + ms(l.send_timeout) + ", message " +
         ms(l.message_timeout) + ", linger " + ms(l.linger_timeout);
}

setting make_setting(std::uint64_t seed, unsigned model) {
  std::mt19937_64 random(seed * 5 + model);
  setting s;
  s.model = model;
  s.seed = seed;
  vary_limits(s.limits, static_cast<std::uint32_t>(random() & 0xfff));
  if (random() % 4 != 0) vary_times(s.limits, static_cast<std::uint32_t>(random() & 0xfff));
  s.limits.max_input = 16 * 1024;
  s.limits.linger_timeout = random() % 4 == 0 ? 0s : 1s;
  s.window = std::size_t{2048} << random() % 6;
  s.runs_known_cost = random() % 3 == 0;
  return s;
}

std::vector<step> make_steps(const setting& of, std::size_t count) {
  std::mt19937_64 random(of.seed * 5 + of.model + 0x5eed);
  std::vector<step> steps;
  for (unsigned i = 0; i < 2; ++i)
    steps.push_back({.what = event::connect,
                     .who = static_cast<std::uint8_t>(i),
                     .turns = until_rest,
                     .amount = static_cast<std::uint32_t>(random() % 0x10000)});
  while (steps.size() < count) steps.push_back(make_step(random));
  for (step& s : steps) s.dice = static_cast<std::uint32_t>(random());
  if (random() % 2 == 0) steps[count * 3 / 4 + random() % (count / 5)].what = event::drain;
  if (random() % 4 == 0) steps[count * 4 / 5 + random() % (count / 5)].what = event::stop;
  return steps;
}

}  // namespace quintet::testing
