// SPDX-License-Identifier: BSL-1.0
// settings.hpp: what a load run is to do, and what it found.
#pragma once

#include "bottleneck.hpp"
#include "cpu_times.hpp"
#include "load/disk.hpp"
#include "load/histogram.hpp"
#include "options.hpp"
#include "workloads.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace quintet::bench {

enum class client_kind { epoll, blocking };

struct load_settings {
  endpoint target;
  workload work;         ///< with the connections, sizes and depth that were asked for
  unsigned threads = 1;  ///< of the epoll client; the blocking one has one for each connection
  double rate = 0;       ///< requests a second by schedule (open loop); 0: as fast as replies come (closed loop)
  client_kind client = client_kind::epoll;
  std::chrono::nanoseconds spin{0};  ///< how long the epoll client looks again and again before it sleeps
  bool close_by_reset = false;       ///< short connections end with a reset, which leaves no TIME_WAIT behind
  bool http = false;                 ///< short connections of the epoll client: HTTP instead of an echo
  std::chrono::nanoseconds duration = std::chrono::seconds(5);
  std::chrono::nanoseconds warm_up = std::chrono::seconds(1);
  cpu_list cpus;
  std::optional<endpoint> heartbeat;
  std::optional<pid_t> server;  ///< the server's process, where it is on this machine and to be looked at
};

/// What the kernel counted on the way to the server while it was measured, whoever caused it.
struct network_use {
  std::string interface;
  double bytes = 0, packets = 0;
};

struct load_result {
  std::uint64_t requests = 0;      ///< answered in the measured window
  std::uint64_t failed = 0;        ///< wrong bytes, lost connections, missing replies, warm-up included
  std::uint64_t due_not_sent = 0;  ///< open loop: the schedule asked for them, the server left no room
  std::uint64_t shed = 0;          ///< answered in the window, by the server's being overloaded
  std::uint64_t over_1s = 0;       ///< answers of both kinds that took longer than a second, after the warm-up
  std::string first_failure;
  histogram latencies;
  histogram cheap;  ///< of these, where some requests are dear, the others
  histogram heartbeats;
  bool heartbeat_is_real_time = false;  ///< else what is measured is also how long the probe itself waits for a CPU
  std::uint64_t measured_from_ns = 0;   ///< CLOCK_MONOTONIC
  std::uint64_t measured_to_ns = 0;
  double client_cpu_s = 0;  ///< user and system time of the whole process within the window
  unsigned busy_limit = 1;  ///< how many CPUs the client could have used at most
  std::optional<network_use> network;
  /// Of the parts that can be looked at; of the client by itself: spent().
  std::optional<double> server_strain, machine_strain, network_strain, disk_strain;
  std::vector<thread_use> server_threads;  ///< the busiest first; like what follows, where the process may be looked at
  std::optional<disk_bytes> server_disk;
  bool interrupted = false;

  bool measured() const { return measured_to_ns > measured_from_ns; }
  double seconds() const { return static_cast<double>(measured_to_ns - measured_from_ns) / 1e9; }
  double requests_per_s() const { return static_cast<double>(requests) / seconds(); }
  /// A few are always just due when the window ends.
  bool rate_missed() const { return due_not_sent > 10 + requests / 100; }
  /// 1: every thread of the client was busy all the time.
  double cpu_fraction() const { return client_cpu_s / seconds() / busy_limit; }
  /// A client that spins is always busy: that tells nothing.
  strain spent(bool spinning) const {
    return {.client = spinning ? std::nullopt : std::optional(cpu_fraction()),
            .server = server_strain,
            .machine = machine_strain,
            .network = network_strain,
            .disk = disk_strain};
  }
};

}  // namespace quintet::bench
