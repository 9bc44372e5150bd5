// SPDX-License-Identifier: BSL-1.0
// bus_report: what a node of the bus tells bus_top about itself.
#pragma once

#include <quintet/bus/bus_node.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <sys/types.h>

namespace example {

/// The message that asks for a report. The answer is a message, too.
inline constexpr quintet::bytes bus_report_request = "bus_report?";

struct bus_report {
  pid_t process = 0;
  std::size_t ring_size = 0;                    ///< of the node's options
  std::map<std::uint64_t, std::string> routes;  ///< of each linked peer
  std::map<std::string, std::uint64_t> counters;
};

/// Returns the report of this process's node as text, a line for each figure.
[[nodiscard]] std::string to_text(const quintet::bus_node& node, std::size_t ring_size);
/// Throws std::runtime_error if the text is not a report.
[[nodiscard]] bus_report bus_report_from(quintet::bytes text);

}  // namespace example
