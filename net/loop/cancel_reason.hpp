// SPDX-License-Identifier: BSL-1.0
// cancel_reason: why everything that a coroutine awaits is cancelled.
#pragma once

#include "../../base/error.hpp"

#include <cstdint>

namespace quintet {

/// A reason lasts: operations that begin later are cancelled, too.
enum class cancel_reason : std::uint8_t {
  none,
  stopped,  ///< the loop stops, by stop() or at the end of a drain
  aborted,  ///< connection_registry::abort()
};

/// [any thread] Returns the error of an operation that was cancelled for this reason.
[[nodiscard]] inline error_code error_of(cancel_reason why) noexcept {
  if (why == cancel_reason::none) return {};
  return why == cancel_reason::aborted ? errc::aborted : errc::stopped;
}

}  // namespace quintet
