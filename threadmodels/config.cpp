// SPDX-License-Identifier: BSL-1.0
// config: what the model's loops are told, and what cannot be.
#include "config.hpp"

#include "../net/loop/allowed_cpus.hpp"
#include "placement/idle_cpus.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace quintet {
namespace {

void validate_cpus(const std::vector<int>& wanted, const std::vector<int>& allowed) {
  for (const int cpu : wanted)
    if (std::ranges::find(allowed, cpu) == allowed.end())
      throw config_error("cpus: this process may not use CPU " + std::to_string(cpu) + ", or there is none");
}

void validate_own_descriptors(const config& c) {
  const bool each = c.accept == accept_strategy::reuse_port || c.accept == accept_strategy::reuse_port_cpu;
  if (c.own_descriptors && (c.model != model::loop_per_thread || !each))
    throw config_error(
        "own_descriptors: not without model loop_per_thread and accept reuse_port or reuse_port_cpu, where a "
        "connection stays with the thread that accepts it");
}

}  // namespace

config config::public_defaults(std::vector<listen_options> listen) {
  using namespace std::chrono_literals;
  constexpr std::size_t kib = 1024, mib = 1024 * kib;
  config c;
  c.listen = std::move(listen);
  for (listen_options& l : c.listen) {
    if (l.keep_alive == l.keep_alive.zero()) l.keep_alive = 1min;
    if (l.user_timeout == l.user_timeout.zero()) l.user_timeout = 2min;
  }
  c.accepting.max_connections = 10'000;
  c.limits.max_input = mib;
  c.limits.max_output = 8 * mib;  // more than io_uring receives for an echo before it is told to pause
  c.limits.high_watermark = 256 * kib;
  c.limits.low_watermark = 128 * kib;
  c.limits.first_byte_timeout = 30s;
  c.limits.idle_timeout = 5min;
  c.limits.send_timeout = 30s;
  c.limits.message_timeout = 20s;
  c.limits.min_receive_rate = kib;
  c.max_output_total = 512 * mib;
  c.max_input_total = 512 * mib;
  return c;
}

model_options model_options_of(const config& c) {
  validate_own_descriptors(c);
  model_options o = model_options_of<config>(c);
  const std::vector<int> allowed = allowed_cpus();
  validate_cpus(c.cpus, allowed);
  o.cpus = c.cpus.empty() && (c.accept == accept_strategy::reuse_port_cpu || c.idle_cpus) ? allowed : c.cpus;
  const bool has_loops = c.model == model::loop_per_thread || c.model == model::loop_per_thread_pool;
  if (c.idle_cpus && has_loops) o.cpus = idlest_cpus(o.cpus, c.loops);
  o.own_descriptors = c.own_descriptors;
  o.placement = c.placement;
  o.place_by = c.place_by;
  return o;
}

}  // namespace quintet
