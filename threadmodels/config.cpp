// SPDX-License-Identifier: BSL-1.0
// config: the public defaults, validation, and conversion to options of the net layer and the model.
#include "config.hpp"

#include "../net/loop/allowed_cpus.hpp"
#include "../net/options/require.hpp"

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

namespace quintet {
namespace {

void validate_own_descriptors(const config& c) {
  const accept_strategy by = c.advanced.accept;
  const bool each = by == accept_strategy::reuse_port || by == accept_strategy::reuse_port_cpu;
  detail::require(
      !c.placement.own_descriptors || (c.model == model::loop_per_thread && each), "own_descriptors",
      "is true; it must be false unless model is loop_per_thread and accept is reuse_port or reuse_port_cpu");
}

}  // namespace

model default_model() {
  const char* const wanted = ::secure_getenv("QUINTET_MODEL");
  if (!wanted || *wanted == '\0') return model::loop_per_thread;
  if (const auto named = from_string(wanted)) return *named;
  throw config_error("QUINTET_MODEL=" + std::string(wanted) +
                     " is not a model; it must be 1 to 5, or one of: " + names_of<model>());
}

config config::public_defaults(std::vector<listen_options> listen) {
  using namespace std::chrono_literals;
  constexpr std::size_t kib = 1024, mib = 1024 * kib;
  config c;
  c.listen = std::move(listen);
  for (listen_options& l : c.listen) {
    if (l.socket.keep_alive == l.socket.keep_alive.zero()) l.socket.keep_alive = 1min;
    if (l.socket.user_timeout == l.socket.user_timeout.zero()) l.socket.user_timeout = 2min;
  }
  c.accepting.max_connections = 10'000;
  c.limits.max_input = mib;
  c.limits.max_output = 8 * mib;  // above what io_uring receives for an echo before a pause takes effect
  c.limits.high_watermark = 256 * kib;
  c.limits.low_watermark = 128 * kib;
  c.limits.first_byte_timeout = 30s;
  c.limits.idle_timeout = 5min;
  c.limits.send_timeout = 30s;
  c.limits.message_timeout = 20s;
  c.limits.min_receive_rate = kib;
  c.memory.max_output_total = 512 * mib;
  c.memory.max_input_total = 512 * mib;
  return c;
}

config config::session_defaults(std::vector<listen_options> listen) {
  using namespace std::chrono_literals;
  constexpr std::size_t mib = 1024 * 1024;
  config c = public_defaults();
  c.listen = std::move(listen);
  for (listen_options& l : c.listen)  // user_timeout would end peers that do not read, as send_timeout does
    if (l.socket.keep_alive == l.socket.keep_alive.zero()) l.socket.keep_alive = 1min;
  c.limits.max_input = 16 * mib;   // a statement with its values
  c.limits.max_output = 32 * mib;  // an answer of that size, written at once
  c.limits.idle_timeout = 0s;
  c.limits.send_timeout = 0s;
  c.limits.message_timeout = 0s;  // a client of PostgreSQL sends a long COPY in pieces that end within a message
  c.limits.min_receive_rate = 0;
  return c;
}

server_options server_options_of(const config& c) {
  detail::require(!c.listen.empty(), "listen", "has no address; it must have at least one");
  return {.listen = c.listen,
          .engine = c.engine,
          .limits = c.limits,
          .accepting = c.accepting,
          .memory = c.memory,
          .log = c.log,
          .advanced = c.advanced};
}

model_options model_options_of(const config& c) {
  validate_own_descriptors(c);
  model_options o{c.model, c.threads, c.engine, c.advanced.loop, c.placement};
  add_demands(o.loop, c.listen);
  if (o.placement.cpus.empty() && c.advanced.accept == accept_strategy::reuse_port_cpu)
    o.placement.cpus = allowed_cpus();
  return o;
}

}  // namespace quintet
