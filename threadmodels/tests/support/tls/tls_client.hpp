// SPDX-License-Identifier: BSL-1.0
// tls_client: a client that speaks TLS, by OpenSSL, and a server's certificate for tests.
#pragma once

#include "../client.hpp"

#include <memory>
#include <string>

namespace quintet {
class handshake_source;
}

namespace quintet::test {

/// What a client shows and asks for.
struct tls_client_options {
  std::string server_name = {};                ///< SNI
  std::string protocol = {};                   ///< ALPN
  std::string chain_file = {}, key_file = {};  ///< of a certificate to show
  int version = 0;                             ///< TLS1_2_VERSION, or another one; 0: any
};

/// Returns a client that speaks TLS over `raw`, and trusts every server. The first call waits for the
/// handshake. An end without close_notify counts as a reset, and so does a handshake that fails.
client over_tls(client raw, const tls_client_options& options = {});

/// Returns a context with a certificate of its own: the same one for the whole process.
std::shared_ptr<handshake_source> any_tls();

}  // namespace quintet::test
