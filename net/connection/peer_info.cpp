// SPDX-License-Identifier: BSL-1.0
// peer_info: asks the socket, or what the connection has kept of it.
#include "peer_info.hpp"

#include "../engine/kernel_sockets.hpp"

namespace quintet {

struct detail::peer_info_access {
  static const connection_context& held(const connection& c,
                                        const affinity_guard::place& by = affinity_guard::place::current()) noexcept {
    c.check_held(by);
    return c;
  }
};

namespace {

using access = detail::peer_info_access;

int socket_of(const detail::connection_context& c) noexcept {
  return c.handle_ < 0 ? -1 : c.loop_.io().sockets().descriptor(c.handle_);
}

}  // namespace

std::string local_address(const connection& c) { return access::held(c).local(); }

int native_handle(const connection& c) noexcept { return socket_of(access::held(c)); }

boost::system::result<::tcp_info> tcp_info_of(const connection& c) {
  ::tcp_info info{};
  if (const error_code failed = kernel_sockets::get_tcp_info(socket_of(access::held(c)), info)) return failed;
  return info;
}

const tls_info* tls_info_of(const connection& c) { return access::held(c).tls(); }

boost::system::result<peer_credentials> credentials_of(const connection& c) {
  peer_credentials peer;
  if (const error_code failed = kernel_sockets::get_credentials(socket_of(access::held(c)), peer)) return failed;
  return peer;
}

}  // namespace quintet
