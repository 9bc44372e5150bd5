// SPDX-License-Identifier: BSL-1.0
// engine: what most engines do alike.
#include "engine.hpp"

namespace quintet {

engine::send_result engine::send(stream_channel& c, bytes data) noexcept {
  iovec piece{const_cast<char*>(data.data()), data.size()};  // which is only read
  return send(c, output_pieces(&piece, 1));
}

}  // namespace quintet
