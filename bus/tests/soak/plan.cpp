// SPDX-License-Identifier: BSL-1.0
// plan: draws the plan of a round.
#include "plan.hpp"

#include "system_call_trap.hpp"

#include <quintet/base/build/sanitizers.hpp>
#include <quintet/net/engine/make_engine.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace quintet::test::soak {
namespace {

using namespace std::chrono_literals;

template <class Range>
auto pick(dice& random, const Range& all) {
  return all[random() % std::size(all)];
}

// ThreadSanitizer does not see the kernel's accesses to an io_uring.
std::vector<engine_kind> engines() {
  std::vector<engine_kind> all;
  for (const engine_kind kind : built_engines())
    if (kind != engine_kind::automatic && !refused_by_kernel(kind) && !(thread_sanitizer && kind == engine_kind::uring))
      all.push_back(kind);
  return all;
}

connection_limits draw_limits(dice& random) {
  connection_limits l;
  l.max_input = 1024 * 1024;
  if (one_in(random, 2)) {
    l.high_watermark = 64 * 1024;
    l.low_watermark = 16 * 1024;
  }
  if (one_in(random, 3)) l.max_output = 4 * 1024 * 1024;
  if (one_in(random, 3)) l.merge_threshold = 64;
  // Longer than a round: the slow path of timed connections runs, and no limit ends one.
  if (one_in(random, 2)) l.idle_timeout = l.send_timeout = l.message_timeout = l.first_byte_timeout = 300s;
  return l;
}

bus_plan draw_bus(dice& random, const std::vector<engine_kind>& engines) {
  bus_plan b;
  b.is_there = one_in(random, 2);
  b.repeats = one_in(random, 2);
  b.engine = pick(random, engines);
  b.max_message = std::size_t{1024} << random() % 7;
  b.max_unacknowledged = std::max<std::size_t>(4 * b.max_message, (std::size_t{16} << random() % 7) * 1024);
  b.ring_size = (std::size_t{64} << random() % 3) * 1024;
  return b;
}

}  // namespace

plan make_plan(std::uint64_t seed) {
  static const std::vector<engine_kind> all_engines = engines();
  constexpr std::array strategies{accept_strategy::main_reactor, accept_strategy::main_reactor,
                                  accept_strategy::reuse_port, accept_strategy::exclusive};
  constexpr std::array endings{ending_way::drain_after_clients, ending_way::drain_after_clients,
                               ending_way::drain_among_clients, ending_way::stop_among_clients};
  dice random(seed);
  plan p;
  p.seed = seed;
  p.under = pick(random, all_combinations);
  p.engine = pick(random, all_engines);
  p.accept = pick(random, strategies);
  p.limits = draw_limits(random);
  p.loops = 1 + static_cast<unsigned>(random() % 3);
  p.workers = 1 + static_cast<unsigned>(random() % 3);
  p.clients = 1 + static_cast<unsigned>(random() % 4);
  p.sessions = 1 + static_cast<unsigned>(random() % 6);
  p.small_buffers = one_in(random, 2);
  p.is_watched = one_in(random, 4);
  p.rebalances = one_in(random, 3) && p.engine == engine_kind::epoll && !p.under.is_coroutine() &&
                 (p.under.kind == model::loop_per_thread || p.under.kind == model::loop_per_thread_pool);
  // A trapped call is a signal, which ThreadSanitizer delays.
  p.has_faults = one_in(random, 4) && can_trap() && !thread_sanitizer;
  p.has_shortage = one_in(random, 5) && !sanitized;  // a sanitizer has an operator new of its own
  p.has_intruders = one_in(random, 4);
  p.ends = pick(random, endings);
  p.bus = draw_bus(random, all_engines);
  return p;
}

std::string to_string(const plan& p) {
  constexpr std::array ways{"drain after the clients", "drain among the clients", "stop among the clients"};
  std::string text = std::string(to_string(p.under.kind)) + '/' + test::to_string(p.under.style) + '/' +
                     std::string(to_string(p.engine)) + ", " + std::to_string(p.clients) + " clients x " +
                     std::to_string(p.sessions) + ", " + ways.at(static_cast<std::size_t>(p.ends));
  if (p.has_faults) text += ", faults";
  if (p.has_shortage) text += ", shortage";
  if (p.has_intruders) text += ", intruders";
  if (p.is_watched) text += ", watched";
  if (p.bus.is_there)
    text += std::string(", bus on ") + std::string(to_string(p.bus.engine)) + (p.bus.repeats ? "" : ", at most once");
  return text;
}

}  // namespace quintet::test::soak
