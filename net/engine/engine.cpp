// SPDX-License-Identifier: BSL-1.0
// engine: the defaults of the engine interface.
#include "engine.hpp"

namespace quintet {

engine::send_result engine::send(stream_channel& c, bytes data) noexcept {
  iovec piece{const_cast<char*>(data.data()), data.size()};  // send() only reads the bytes
  return send(c, output_pieces(&piece, 1));
}

}  // namespace quintet
