// SPDX-License-Identifier: BSL-1.0
// tls_info: what a TLS handshake has found out.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quintet {

/// The certificate that a client has shown.
struct tls_peer_certificate {
  bool is_verified = false;                        ///< it leads to a CA of tls_options::client_ca_file, and is in force
  std::string subject;                             ///< as in RFC 2253: "CN=alice,O=Example"
  std::vector<std::string> names;                  ///< all subject alternative names: "DNS:a.example", "IP:10.0.0.1"
  std::array<unsigned char, 32> fingerprint = {};  ///< SHA-256 of the whole certificate
};

/// Does not change while the connection lives. Any thread may read it.
struct tls_info {
  std::string_view version;  ///< "TLSv1.2" or "TLSv1.3"
  std::string_view cipher;   ///< the name that OpenSSL uses
  bool is_resumed = false;   ///< by a ticket: no certificate was sent again
  std::string protocol;      ///< by ALPN; empty: none
  std::string server_name;   ///< by SNI; empty: the client has named none
  std::string end_point;     ///< tls-server-end-point (RFC 5929), a server's own; or empty
  std::unique_ptr<const tls_peer_certificate> certificate;  ///< null: the client has shown none
};

}  // namespace quintet
