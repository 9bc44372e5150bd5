// SPDX-License-Identifier: BSL-1.0
// circumstances.cpp: two readings of /proc and their difference.
#include "load/circumstances.hpp"

#include "load/clock.hpp"

#include <unistd.h>

#include <algorithm>

namespace quintet::bench {

circumstances::circumstances(const load_settings& s, const socket_address& target)
    : server_(s.server), interface_(interface_towards(target)) {
  if (server_ && s.count_calls) calls_.emplace(*server_);
  machine_ = read_machine_seconds();
  counts_ = read_interface(interface_);
  if (server_) sample_ = sample_server(*server_);
  if (calls_) calls_before_ = calls_->read();
  begun_ns_ = now_ns();
}

void circumstances::fill(load_result& into) const {
  if (calls_) {
    const auto now = calls_->read();
    into.server_calls = {now.all - calls_before_.all, now.futex - calls_before_.futex};
  }
  fill_server(into);
  const auto counts = read_interface(interface_);
  const double seconds = static_cast<double>(now_ns() - begun_ns_) / 1e9;
  const auto machine = read_machine_seconds();
  if (seconds <= 0) return;
  const auto cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  into.machine_utilization = std::min(1.0, (machine.busy - machine_.busy) / seconds / cpus);
  into.softirq_fraction = (machine.softirq - machine_.softirq) / seconds / cpus;
  if (machine.disk_stall && machine_.disk_stall)
    into.disk_utilization = std::min(1.0, (*machine.disk_stall - *machine_.disk_stall) / seconds);
  if (!counts || !counts_) return;
  into.network = use_between(interface_, *counts_, *counts);
  if (const double speed = line_speed(interface_); speed > 0)
    into.network_utilization = into.network->busier_way_bytes / seconds / speed;
}

void circumstances::fill_server(load_result& into) const {
  const auto now = server_ ? sample_server(*server_) : std::nullopt;
  if (!sample_ || !now) return;
  into.server = use_between(*sample_, *now);
  if (now->disk && sample_->disk)
    into.server_disk = {now->disk->read - sample_->disk->read, now->disk->written - sample_->disk->written};
  if (now->threads.empty() || sample_->threads.empty() || into.server->seconds <= 0) return;
  into.server_utilization = utilization_of(*server_, sample_->threads, now->threads, into.server->seconds);
  into.server_threads = busiest_threads(sample_->threads, now->threads, into.server->seconds);
}

}  // namespace quintet::bench
