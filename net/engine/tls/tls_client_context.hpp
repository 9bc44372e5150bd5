// SPDX-License-Identifier: BSL-1.0
// tls_client_context: which servers a TLS client trusts, and what it shows them.
#pragma once

#include "tls_context.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quintet {

/// Selects what a client demands of its server's certificate.
enum class tls_verification : std::uint8_t {
  name,    ///< a CA that is trusted has issued it, for the server's name
  issuer,  ///< a CA that is trusted has issued it, for whom ever: for a CA that serves one purpose only
  none,    ///< nothing: for tests. Anybody on the way may read and change all
};

/// What a client demands and shows.
struct tls_client_options {
  std::string ca_file = {};  ///< PEM: the CAs that are trusted; empty: those of the system
  /// Sent to the server (SNI) and looked for in its certificate. Empty: the destination's host name, or its address.
  std::string server_name = {};
  tls_verification verification = tls_verification::name;
  std::vector<std::string> protocols = {};          ///< protocols (ALPN) in the order of preference
  std::optional<tls_certificate> certificate = {};  ///< shown to servers that ask; its `server_names` are not used
  bool only_tls_1_3 = false;                        ///< else also TLS 1.2, with ECDHE and AEAD ciphers
};

/// For connect_options::tls, of any number of clients. OpenSSL reads its configuration file, which may narrow what is
/// allowed here. All functions: [any thread].
class tls_client_context final : public handshake_source {
 public:
  /// Reads the files. Throws config_error, which names the file and the reason.
  explicit tls_client_context(tls_client_options options);
  ~tls_client_context() override;

  /// Reads the files again, as tls_context::reload() does.
  [[nodiscard]] std::optional<std::string> reload();
  [[nodiscard]] std::uint64_t reloads() const noexcept;
  [[nodiscard]] std::uint64_t failed_reloads() const noexcept;

  /// A client speaks first: everything is whole.
  [[nodiscard]] first_record examine(bytes) const noexcept override { return {.is_whole = true}; }
  [[nodiscard]] std::unique_ptr<handshake> begin(std::string_view server) override;

 private:
  struct state;
  const std::unique_ptr<state> state_;
};

}  // namespace quintet
