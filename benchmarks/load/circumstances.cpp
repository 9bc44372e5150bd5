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
  if (server_) threads_ = read_thread_seconds(*server_);
  machine_ = read_machine_seconds();
  counts_ = read_interface(interface_);
  if (server_) disk_ = read_disk_bytes(*server_);
  disk_stall_s_ = read_disk_stall_seconds();
  if (server_) sample_ = sample_server(*server_);
  if (calls_) calls_before_ = calls_->read();
  begun_ns_ = now_ns();
}

void circumstances::fill(load_result& into) const {
  fill_server(into);
  const auto counts = read_interface(interface_);
  const double seconds = static_cast<double>(now_ns() - begun_ns_) / 1e9;
  const auto machine = read_machine_seconds();
  const auto threads = server_ ? read_thread_seconds(*server_) : thread_seconds();
  if (seconds <= 0) return;
  const auto cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  into.machine_utilization = std::min(1.0, (machine.busy - machine_.busy) / seconds / cpus);
  into.softirq_fraction = (machine.softirq - machine_.softirq) / seconds / cpus;
  if (!threads.empty() && !threads_.empty()) {
    into.server_utilization = utilization_of(*server_, threads_, threads, seconds);
    into.server_threads = busiest_threads(threads_, threads, seconds);
  }
  fill_disk(into, seconds);
  if (!counts || !counts_) return;
  const traffic between(interface_, *counts_, *counts);
  into.network = {between.interface, between.bytes, between.packets};
  if (const double speed = line_speed(interface_); speed > 0)
    into.network_utilization = between.busier_way_bytes / seconds / speed;
}

void circumstances::fill_server(load_result& into) const {
  if (calls_) {
    const auto now = calls_->read();
    into.server_calls = {now.all - calls_before_.all, now.futex - calls_before_.futex};
  }
  const auto now = server_ ? sample_server(*server_) : std::nullopt;
  if (sample_ && now) into.server = use_between(*sample_, *now);
}

void circumstances::fill_disk(load_result& into, double seconds) const {
  const auto disk = server_ ? read_disk_bytes(*server_) : std::nullopt;
  if (disk && disk_) into.server_disk = {disk->read - disk_->read, disk->written - disk_->written};
  const auto stall_s = read_disk_stall_seconds();
  if (stall_s && disk_stall_s_) into.disk_utilization = std::min(1.0, (*stall_s - *disk_stall_s_) / seconds);
}

}  // namespace quintet::bench
