// SPDX-License-Identifier: BSL-1.0
// worker_statistics: the names of events.
#include "worker_statistics.hpp"

namespace quintet {

std::string_view to_string(worker_event event) noexcept {
  switch (event) {
    case worker_event::grown_at_once:
      return "grown_at_once";
    case worker_event::grown_for_latency:
      return "grown_for_latency";
    case worker_event::grown_when_stuck:
      return "grown_when_stuck";
    case worker_event::refused:
      return "refused";
    case worker_event::left_idle:
      return "left_idle";
    case worker_event::overload_begins:
      return "overload_begins";
    case worker_event::overload_ends:
      return "overload_ends";
  }
  return "unknown";
}

}  // namespace quintet
