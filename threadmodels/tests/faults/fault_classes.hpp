// SPDX-License-Identifier: BSL-1.0
// fault_classes: what may go wrong in a system call, how it is brought about, and what it may cost.
#pragma once

#include "combination.hpp"
#include "system_call_trap.hpp"

#include <quintet/net/engine_kind.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace quintet::test {

enum class fault_kind {
  error,    ///< the call is not made, and returns an error
  shorter,  ///< a receive of a few bytes, which are really received
  late,     ///< the call is made 50 ms later
  real,     ///< nothing is changed; sends that the kernel has really cut short are counted
  first,    ///< while the server starts: the first, the second, ... call fails, until it starts
  stop,     ///< the process is stopped for 200 ms, by its parent
};

struct fault_class {
  std::string_view name;
  fault_kind kind;
  std::vector<long> calls;
  int error = 0;
  unsigned one_in = 20;                                              ///< calls: so often a fault is injected
  unsigned may_lose = 0;                                             ///< connections, for each fault
  bool (*applies)(combination under, engine_kind engine) = nullptr;  ///< empty: everywhere
};

[[nodiscard]] const std::vector<fault_class>& all_fault_classes();

/// Shared by the server's process, which counts, and the test, which says when.
struct fault_control {
  std::atomic<bool> active{false};
  std::atomic<std::uint64_t> calls{0};  ///< Number of calls that were eligible for a fault.
  std::atomic<std::uint64_t> injected{0};
  std::atomic<std::uint64_t> fail_first{0};  ///< of fault_kind::first: which call fails
  std::uint64_t seed = 1;
  /// The peers' ports of the connections that have had a fault, as far as the call tells its connection.
  static constexpr std::size_t most_hits = 4096;
  std::array<std::atomic<std::uint16_t>, most_hits> hit_ports{};
  std::atomic<std::size_t> hits{0};
  /// Faults whose call names no connection, or for which there was no room.
  std::atomic<std::uint64_t> elsewhere{0};
};

/// Traps the calls of the class, of this thread and of those that it starts.
void inject(const fault_class& what, fault_control& control);

}  // namespace quintet::test
