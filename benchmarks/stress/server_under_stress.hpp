// SPDX-License-Identifier: BSL-1.0
// server_under_stress.hpp: `quintet-bench serve` as a child process, and the kernel's data about it.
#pragma once

#include "compare/child_process.hpp"
#include "compare/scratch_file.hpp"
#include "compare/server_sample.hpp"
#include "cpu_times.hpp"
#include "load/control.hpp"
#include "stress/memory_group.hpp"
#include "stress/scenario.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quintet::bench {

class server_under_stress {
 public:
  /// Starts the server under the run's model with additional options of `serve`, in the memory group if there is one.
  /// Throws run_error.
  explicit server_under_stress(const stress_run& run, const std::vector<std::string>& options = {},
                               std::optional<memory_group> group = std::nullopt, const std::string& workload = "ask");
  server_under_stress(const server_under_stress&) = delete;
  server_under_stress& operator=(const server_under_stress&) = delete;
  ~server_under_stress();

  [[nodiscard]] const endpoint& where() const { return where_; }
  [[nodiscard]] const socket_address& target() const { return target_; }
  /// Throws run_error with the reason if the server has ended.
  void check();
  /// Stops the server and returns its counters, such as "refused".
  /// Adds the CPU share of other programs to the findings.
  boost::json::object stop();

  [[nodiscard]] std::size_t descriptors();  ///< number of open descriptors in all its tables
  [[nodiscard]] std::size_t threads();
  [[nodiscard]] double resident_bytes();
  [[nodiscard]] double most_resident_bytes();
  /// Returns the busiest thread's fraction of a CPU during `done`.
  [[nodiscard]] double busiest_while(const std::function<void()>& done);
  [[nodiscard]] const std::optional<memory_group>& group() const { return group_; }

 private:
  [[nodiscard]] std::filesystem::path proc() const;
  void tell_foreign_cpu();
  [[nodiscard]] thread_seconds cpu_seconds();
  [[nodiscard]] double bytes_in(const char* file_name, const std::string& name);

  const stress_run& run_;
  std::optional<memory_group> group_;  // outlives the process
  scratch_file counters_;              // outlives the process
  child_process process_;
  endpoint where_;
  socket_address target_;
  server_sample begun_;
  double own_cpu_s_ = 0;  // of this process, at the start
};

}  // namespace quintet::bench
