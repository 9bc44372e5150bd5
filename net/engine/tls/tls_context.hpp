// SPDX-License-Identifier: BSL-1.0
// tls_context: the certificates of a TLS server, and what it asks of its clients.
#pragma once

#include "../filter/handshake.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quintet {

/// A certificate and its key, each a file in PEM. The key has no password.
struct tls_certificate {
  std::string chain_file;  ///< the server's own certificate first, then those that lead to a known CA
  std::string key_file;    ///< of the server's own certificate
  /// Names that clients ask for (SNI): "example.org" or "*.example.org". Empty: the DNS names in the certificate.
  std::vector<std::string> server_names = {};
};

/// Selects whether clients show certificates. One that is shown must be valid.
enum class tls_client_certificates : std::uint8_t { none, optional, required };

/// The certificates, protocols and clients of a server.
struct tls_options {
  std::vector<tls_certificate> certificates = {};  ///< at least one; the first is for clients that name no other server
  /// Protocols (ALPN) in the order of preference: "h2", "http/1.1", "postgresql". A client that names protocols, and
  /// none of these, is refused. Empty: nothing is agreed on.
  std::vector<std::string> protocols = {};
  bool needs_protocol = false;  ///< a client that names no protocol is refused as well
  tls_client_certificates clients = tls_client_certificates::none;
  std::string client_ca_file = {};  ///< PEM: the CAs of client certificates, whose names are sent to clients
  bool only_tls_1_3 = false;        ///< else also TLS 1.2, with ECDHE and AEAD ciphers
  /// Tickets that each client gets to resume its session, from 0 to 16. Their key lives until the next reload().
  unsigned tickets = 2;
};

/// For listener_settings::tls, of any number of listeners and servers. OpenSSL reads its configuration file, which may
/// narrow what is allowed here. All functions: [any thread].
class tls_context final : public handshake_source {
 public:
  /// Reads the files. Throws config_error, which names the file and the reason.
  explicit tls_context(tls_options options);
  ~tls_context() override;

  /// Reads the files again, for handshakes that begin from now on; connections keep what they have. If a file cannot
  /// be read, or a key does not match, nothing changes, and the reason is returned. Two files are not renamed at once:
  /// it tries for up to 40 ms, so call it where a thread may wait.
  [[nodiscard]] std::optional<std::string> reload();
  /// Return how many calls of reload() have changed the certificates, and how many have not.
  [[nodiscard]] std::uint64_t reloads() const noexcept;
  [[nodiscard]] std::uint64_t failed_reloads() const noexcept;
  /// Returns the days until the first of the certificates in use expires; negative: one has.
  [[nodiscard]] int days_to_expiry() const noexcept;

  /// Looks for a ClientHello.
  [[nodiscard]] first_record examine(bytes first) const noexcept override;
  /// Begins with the certificates in use, which the handshake and its filter keep.
  [[nodiscard]] std::unique_ptr<handshake> begin(std::string_view) override;

 private:
  struct state;
  const std::unique_ptr<state> state_;
};

}  // namespace quintet
