// SPDX-License-Identifier: BSL-1.0
// engine: the defaults of the engine interface.
#include "engine.hpp"

#include "socket_services.hpp"

namespace quintet {

engine::send_result engine::send(stream_channel& c, bytes data) noexcept {
  iovec piece{const_cast<char*>(data.data()), data.size()};  // send() only reads the bytes
  return send(c, output_pieces(&piece, 1));
}

arrival engine::arrived(stream_channel& c) noexcept { return {.mark = sockets_.unread(c.handle())}; }
std::size_t engine::unsent(stream_channel& c) noexcept { return sockets_.unsent(c.handle()); }
void engine::shutdown_send(stream_channel& c) noexcept { sockets_.shutdown_send(c.handle()); }
void engine::close(stream_handle&& handle) noexcept { sockets_.close(handle.release(), handle.facts().is_ip); }

}  // namespace quintet
