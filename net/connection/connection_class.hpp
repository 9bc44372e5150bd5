// SPDX-License-Identifier: BSL-1.0
// connection_class: the two classes of connections, and "undecided".
#pragma once

#include <cstdint>

namespace quintet {

/// Result of a handler's classify() for the first bytes of a connection.
enum class connection_class : std::uint8_t {
  ordinary,   ///< it stays where the threading model placed it
  priority,   ///< it moves to the priority loop before the handler sees any input
  undecided,  ///< more bytes are needed; from 4096 bytes on it counts as ordinary
};

}  // namespace quintet
