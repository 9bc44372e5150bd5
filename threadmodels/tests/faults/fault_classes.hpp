// SPDX-License-Identifier: BSL-1.0
// fault_classes: which faults a system call may have, how a test injects them, and what they may cost.
#pragma once

#include "combination.hpp"
#include "system_call_trap.hpp"

#include <quintet/net/options/loop_options.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace quintet::test {

enum class fault_kind {
  error,       ///< the call returns an error, and is not made
  shorter,     ///< a receive takes only a few bytes
  late,        ///< the call is made 50 ms later
  real,        ///< no change; counts sends that the kernel has cut short
  first,       ///< in each start of the server one call fails: the first, then the second, ...
  stop,        ///< the parent stops the process for 200 ms
  completion,  ///< io_uring's completion of a request has the error, which is not made; without an error: `shorter`
};

struct fault_class {
  std::string_view name;
  fault_kind kind;
  std::vector<long> calls;
  int error = 0;
  unsigned one_in = 20;                                              ///< one call in this many gets a fault
  unsigned may_lose = 0;                                             ///< connections that each fault may end
  bool (*applies)(combination under, engine_kind engine) = nullptr;  ///< empty: everywhere
  std::uint8_t operation = 0;                                        ///< fault_kind::completion: IORING_OP_...
};

[[nodiscard]] const std::vector<fault_class>& all_fault_classes();

/// Shared memory of the server's process, which counts, and the test, which activates faults.
struct fault_control {
  std::atomic<bool> active{false};
  std::atomic<std::uint64_t> calls{0};  ///< calls that were eligible for a fault
  std::atomic<std::uint64_t> injected{0};
  std::atomic<std::uint64_t> fail_first{0};  ///< fault_kind::first: the number of the call that fails, from 0
  std::uint64_t seed = 1;
  /// The clients' ports of the connections that had a fault, if the call names its connection.
  static constexpr std::size_t most_hits = 4096;
  std::array<std::atomic<std::uint16_t>, most_hits> hit_ports{};
  std::atomic<std::size_t> hits{0};
  /// Faults whose call names no connection, or for which hit_ports had no room.
  std::atomic<std::uint64_t> elsewhere{0};
};

/// Traps the calls of the class in the calling thread, and in the threads that it starts.
void inject(const fault_class& what, fault_control& control);

}  // namespace quintet::test
