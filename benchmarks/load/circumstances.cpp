// SPDX-License-Identifier: BSL-1.0
// circumstances.cpp: two looks at /proc, and what is between them.
#include "load/circumstances.hpp"

#include "load/clock.hpp"

#include <unistd.h>

#include <algorithm>

namespace quintet::bench {

circumstances::circumstances(const load_settings& s, const socket_address& target)
    : server_(s.server), interface_(interface_towards(target)) {
  if (server_) threads_ = read_thread_seconds(*server_);
  machine_ = read_machine_seconds();
  counts_ = read_interface(interface_);
  begun_ns_ = now_ns();
}

void circumstances::fill(load_result& into) const {
  const auto counts = read_interface(interface_);
  const double seconds = static_cast<double>(now_ns() - begun_ns_) / 1e9;
  const auto machine = read_machine_seconds();
  const auto threads = server_ ? read_thread_seconds(*server_) : thread_seconds();
  if (seconds <= 0) return;
  const auto cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  into.machine_strain = std::min(1.0, (machine.busy - machine_.busy) / seconds / cpus);
  if (!threads.empty() && !threads_.empty()) into.server_strain = strain_of(*server_, threads_, threads, seconds);
  if (!counts || !counts_) return;
  const traffic between(interface_, *counts_, *counts);
  into.network = {between.interface, between.bytes, between.packets};
  if (const double speed = line_speed(interface_); speed > 0)
    into.network_strain = between.busier_way_bytes / seconds / speed;
}

}  // namespace quintet::bench
