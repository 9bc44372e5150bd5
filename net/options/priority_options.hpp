// SPDX-License-Identifier: BSL-1.0
// priority_options: what the priority loop asks of the system, how many it takes, and what it holds back for bad times.
#pragma once

#include "../../base/enum_names.hpp"
#include "../names/address.hpp"

#include <array>
#include <cstddef>
#include <functional>

namespace quintet {

/// What the priority loop's thread asks for, so that it runs as soon as a heartbeat has come, however busy the machine
/// is. What it asks for is not inherited by threads and processes that a handler starts on it.
enum class priority_scheduling {
  automatic,    ///< real_time where it is permitted, else short_slice; while it uses less than a quarter of a CPU
  real_time,    ///< SCHED_RR, lowest priority: ahead of all ordinary threads, for as long as a handler wants to run
  short_slice,  ///< ordinary, in slices of 0.1 ms (since Linux 6.12), with nice -10: the kernel lets it run sooner
  none,         ///< nothing
};

template <>
inline constexpr auto enum_names<priority_scheduling> =
    std::to_array<enum_name<priority_scheduling>>({{priority_scheduling::automatic, "automatic"},
                                                   {priority_scheduling::real_time, "real_time"},
                                                   {priority_scheduling::short_slice, "short_slice"},
                                                   {priority_scheduling::none, "none"}});

/// Of the priority loop: there is one if a listener has `priority`, if the handler has classify(), with `peers`, and
/// where `without_listener` says so. Otherwise they mean nothing.
struct priority_options {
  bool without_listener = false;  ///< for connection::move_to_priority_loop() alone
  /// [any thread] Called for each connection that an ordinary listener has accepted: whether it belongs to the priority
  /// loop, which it then goes to if that is not full. Not where loops have tables of descriptors of their own.
  std::function<bool(const address&)> peers = {};
  priority_scheduling scheduling =
      priority_scheduling::automatic;  ///< what is refused is told to the log, and done without
  /// Open connections of the priority loop, which the ordinary ones do not count for. At the limit it stops accepting
  /// until one has left. 0: no limit.
  std::size_t max_connections = 1024;
  /// Descriptors that are kept open for the time when the process, or the system, has no more: then each lets one
  /// connection of the priority loop in. At most 4096.
  std::size_t reserve_descriptors = 16;
  /// Bytes that are allocated, and not touched, for the time when there is no more memory for a connection of the
  /// priority loop. At most 1 GiB.
  std::size_t reserve_memory = std::size_t{1} << 20U;
};

/// Throws config_error.
void validate(const priority_options& options);

}  // namespace quintet
