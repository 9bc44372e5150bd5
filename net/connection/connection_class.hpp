// SPDX-License-Identifier: BSL-1.0
// connection_class: which of the two classes a connection is of.
#pragma once

#include <cstdint>

namespace quintet {

/// What a handler's classify() makes of a connection's first bytes.
enum class connection_class : std::uint8_t {
  ordinary,   ///< it stays where the threading model has put it
  priority,   ///< it goes to the priority loop, before the handler has seen anything
  undecided,  ///< more bytes are needed; of connection::most_to_classify and more it is ordinary
};

}  // namespace quintet
