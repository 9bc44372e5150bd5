// SPDX-License-Identifier: BSL-1.0
// refused_connection: sends, ends its output, and closes when the peer has, or when its time is over.
#include "refused_connection.hpp"

#include <utility>

namespace quintet {

void refused_connection::say(stream_handle&& stream, std::string_view words) noexcept {
  engine& io = loop_.io();
  if (io.add(*this, std::move(stream))) {
    io.close(std::move(stream));  // NOLINT(bugprone-use-after-move): a failure has left it
    return stop();
  }
  (void)stream.release();                             // remove() gives it back
  (void)io.send(*this, words.substr(0, most_bytes));  // if it fails, the peer is told nothing, as without words
  io.shutdown_send(*this);
  loop_.start(*this, patience);
}

void refused_connection::stop() noexcept {
  refused_connection_hook::unlink();
  cancel();
  if (handle() >= 0) loop_.io().close(loop_.io().remove(*this));
  loop_.defer(*this);  // the engine may be dispatching
}

}  // namespace quintet
