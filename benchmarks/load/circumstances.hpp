// SPDX-License-Identifier: BSL-1.0
// circumstances.hpp: utilization of server, machine, network and disk during a measurement.
#pragma once

#include "load/call_counter.hpp"
#include "load/server_sample.hpp"
#include "load/settings.hpp"
#include "load/traffic.hpp"

#include <optional>
#include <string>

namespace quintet::bench {

/// Takes the first reading at construction and the second in fill().
class circumstances {
 public:
  circumstances(const load_settings& s, const socket_address& target);
  /// Sets the fields about the time since construction.
  void fill(load_result& into) const;

 private:
  void fill_server(load_result& into) const;

  std::optional<pid_t> server_;
  std::string interface_;
  std::optional<call_counter> calls_;
  std::optional<server_sample> sample_;  ///< of the server, if it is observable
  call_counts calls_before_;
  std::uint64_t begun_ns_;
  machine_seconds machine_;
  std::optional<interface_counts> counts_;
};

}  // namespace quintet::bench
