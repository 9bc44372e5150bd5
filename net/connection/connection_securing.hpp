// SPDX-License-Identifier: BSL-1.0
// connection_securing: begins TLS in mid-stream. The handshake holds the baton until it has ended.
#pragma once

#include "../../base/error.hpp"
#include "../../base/memory/byte_buffer.hpp"
#include "../options/listen_options.hpp"

#include <memory>

namespace quintet {

class handshake_source;
class transport;

}  // namespace quintet

namespace quintet::detail {

class connection_core;
class midstream_handshake;

/// The arguments of start_tls().
struct tls_request {
  std::shared_ptr<handshake_source> source;
  handshake_limits limits;
};

/// The handler asks for TLS. Once its output has left, the engine still serves the stream, and the handshake gets what
/// arrives. Then the engine serves the same session again, through the filter. Whoever may insert bytes before TLS
/// must not make the handler believe them: if one has been read by then, the connection ends.
class connection_securing {
 public:
  /// [baton] Returns why the connection cannot have TLS; no error: it can.
  [[nodiscard]] static error_code refusal(const connection_core& c, const std::shared_ptr<handshake_source>& source,
                                          const handshake_limits& limits);
  /// [baton] The extras have the request. Nothing is delivered or written from now on.
  static void note_request(connection_core& c) noexcept;
  /// [loop, baton] From now on no bytes from outside are sent beside the handler's.
  static void take_over_request(connection_core& c) noexcept;
  /// [loop, baton] Begins the handshake, or ends the connection.
  static void run(connection_core& c) noexcept;

  // [loop] For a connection whose handshake is in progress.
  [[nodiscard]] static bool is_in_progress(const connection_core& c) noexcept;
  static void received(connection_core& c, bytes arrived) noexcept;
  static void received_end(connection_core& c, error_code how) noexcept;
  /// Messages wait until the end of the handshake. One may be the server's drain, which waits for no handshake.
  static void message_waits(connection_core& c) noexcept;
  /// The connection has ended: the handshake returns the baton.
  static void stop(connection_core& c) noexcept;

 private:
  friend midstream_handshake;
  static void finish(connection_core& c, error_code failed, std::unique_ptr<transport> carried,
                     bytes last_words) noexcept;
  [[nodiscard]] static error_code use_filter(connection_core& c, std::unique_ptr<transport> carried) noexcept;
};

}  // namespace quintet::detail
