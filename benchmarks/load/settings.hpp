// SPDX-License-Identifier: BSL-1.0
// settings.hpp: settings and result of a load run.
#pragma once

#include "bottleneck.hpp"
#include "load/call_counter.hpp"
#include "load/histogram.hpp"
#include "load/server_sample.hpp"
#include "options.hpp"
#include "workloads.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace quintet::bench {

enum class client_kind { epoll, blocking, shared_memory };

struct load_settings {
  endpoint target = {};
  workload work = require_workload("echo");  ///< with the connections, sizes and depth that the user chose
  unsigned threads = 1;  ///< of the epoll and the shared-memory client; the blocking client has one per connection
  double rate = 0;       ///< scheduled requests a second (open loop); 0: as fast as replies come (closed loop)
  client_kind client = client_kind::epoll;
  std::chrono::nanoseconds spin{0};  ///< how long these two poll before they sleep
  bool close_by_reset = false;       ///< short connections end with a reset, which leaves no TIME_WAIT
  bool http = false;                 ///< short connections of the epoll client: HTTP instead of an echo
  std::chrono::nanoseconds duration = std::chrono::seconds(5);
  std::chrono::nanoseconds warm_up = std::chrono::seconds(1);
  cpu_list cpus = {};
  std::optional<endpoint> heartbeat = {};
  std::optional<pid_t> server = {};  ///< the local server process to observe
  bool count_calls = false;          ///< also its system calls, which slows it down
};

/// Traffic that the kernel counted on the interface to the server during the window, of all programs.
struct network_use {
  std::string interface;
  double bytes = 0, packets = 0;
  double busier_way_bytes = 0;  ///< the larger of sent and received
};

/// The findings of one thread of a load, or of all threads together.
struct load_findings {
  std::uint64_t due_not_sent = 0;  ///< open loop: requests that the schedule had but the server left no room for
  std::uint64_t shed = 0;          ///< replies in the window that report overload
  std::uint64_t over_1s = 0;       ///< replies of both kinds that took longer than a second, after the warm-up
  std::string first_failure;
  histogram latencies;
  histogram cheap;  ///< the requests among `latencies` that cost nothing, if the workload has both kinds

  void add(const load_findings& other) {
    due_not_sent += other.due_not_sent;
    shed += other.shed;
    over_1s += other.over_1s;
    if (first_failure.empty()) first_failure = other.first_failure;
    latencies.merge(other.latencies);
    cheap.merge(other.cheap);
  }
};

struct load_result : load_findings {
  std::uint64_t requests = 0;  ///< answered in the measured window
  std::uint64_t failed = 0;    ///< wrong bytes, lost connections, missing replies, warm-up included
  histogram heartbeats;
  bool heartbeat_is_real_time = false;  ///< false: the probe's own wait for a CPU is included
  std::uint64_t measured_from_ns = 0;   ///< CLOCK_MONOTONIC
  std::uint64_t measured_to_ns = 0;
  double client_cpu_s = 0;  ///< user and system time of the whole process within the window
  unsigned busy_limit = 1;  ///< number of CPUs that the client could use at most
  std::optional<network_use> network;
  /// Utilization of the observable parts. For the client's own, see spent().
  std::optional<double> server_utilization, machine_utilization, network_utilization, disk_utilization;
  std::optional<double> softirq_fraction;  ///< of the time of all CPUs, caused by any program
  std::vector<thread_use> server_threads;  ///< busiest first; as server_disk, only if the process is observable
  std::optional<disk_bytes> server_disk;
  std::optional<server_use> server;
  std::optional<call_counts> server_calls;
  bool interrupted = false;

  bool measured() const { return measured_to_ns > measured_from_ns; }
  double seconds() const { return static_cast<double>(measured_to_ns - measured_from_ns) / 1e9; }
  double requests_per_s() const { return static_cast<double>(requests) / seconds(); }
  /// A few requests are always just scheduled when the window ends.
  bool rate_missed() const { return due_not_sent > 10 + requests / 100; }
  /// Returns 1 if every thread of the client was busy all the time.
  double cpu_fraction() const { return client_cpu_s / seconds() / busy_limit; }
  /// Returns the utilization of all parts. A spinning client is always busy, so its own is unknown.
  utilization spent(bool spinning) const {
    return {.client = spinning ? std::nullopt : std::optional(cpu_fraction()),
            .server = server_utilization,
            .machine = machine_utilization,
            .network = network_utilization,
            .disk = disk_utilization};
  }
};

}  // namespace quintet::bench
