// SPDX-License-Identifier: BSL-1.0
// peer_info: what the system knows of a connection: both ends, TCP's state, the process at a Unix socket's other end.
#pragma once

#include "../options/listen_options.hpp"
#include "connection.hpp"

#include <boost/system/result.hpp>

#include <string>

#include <netinet/tcp.h>

namespace quintet {

struct tls_info;

/// [baton] Returns the connection's end here as `127.0.0.1:80`, as connection::peer_address() returns the other one,
/// also in on_close.
[[nodiscard]] std::string local_address(const connection& c);
/// [baton] Returns the socket, which the connection owns: for getsockopt(). -1 in on_close, and on a network in memory.
[[nodiscard]] int native_handle(const connection& c) noexcept;
/// [baton] Returns what TCP knows: round trips, windows, retransmissions. Errors: operation_not_supported (the
/// system's) of a connection that is not TCP; bad_file_descriptor without a native_handle().
[[nodiscard]] boost::system::result<::tcp_info> tcp_info_of(const connection& c);
/// [baton] Returns the process, user and group at the other end of a Unix socket, as the kernel recorded them when it
/// connected. Also of shared memory. Errors: as above, of a connection that is neither.
[[nodiscard]] boost::system::result<peer_credentials> credentials_of(const connection& c);
/// [baton] Returns what the TLS handshake has found out; nullptr of a plain connection. It lives as long as the
/// connection's handler, also in on_close. Include <quintet/net/tls.hpp> for the type.
[[nodiscard]] const tls_info* tls_info_of(const connection& c);

}  // namespace quintet
