// SPDX-License-Identifier: BSL-1.0
// tls_options: --tls-cert and --tls-key of servers, --tls-ca of clients. Without OpenSSL there are no such options. For
// main.cpp only: it needs the definition QUINTET_EXAMPLE_TLS, and quintet::tls.
#pragma once

#include "options.hpp"

#ifdef QUINTET_EXAMPLE_TLS
#include <quintet/net/tls.hpp>
#endif

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace example {

/// The certificate of a server.
struct tls_files {
  std::string certificate, key;

  void add_to([[maybe_unused]] command_line& line, [[maybe_unused]] const std::string& what = "speak TLS") {
#ifdef QUINTET_EXAMPLE_TLS
    line.text("--tls-cert", certificate, what + ": the certificate and those that lead to a CA, in PEM", "FILE")
        .text("--tls-key", key, "the certificate's key, in PEM", "FILE");
#endif
  }
  /// Returns null if neither option was given. Throws config_error.
  [[nodiscard]] std::shared_ptr<quintet::handshake_source> context(
      [[maybe_unused]] std::vector<std::string> protocols = {}, [[maybe_unused]] bool needs_protocol = false) const {
#ifdef QUINTET_EXAMPLE_TLS
    if (!certificate.empty() || !key.empty())
      return std::make_shared<quintet::tls_context>(quintet::tls_options{
          .certificates = {{certificate, key}}, .protocols = std::move(protocols), .needs_protocol = needs_protocol});
#endif
    return nullptr;
  }
};

/// The servers that a client trusts.
struct tls_trust {
  std::string ca_file;

  void add_to([[maybe_unused]] command_line& line) {
#ifdef QUINTET_EXAMPLE_TLS
    line.text("--tls-ca", ca_file, "speak TLS with servers whose certificate leads to a CA of this file, in PEM",
              "FILE");
#endif
  }
  /// Returns null if the option was not given. Throws config_error.
  [[nodiscard]] std::shared_ptr<quintet::handshake_source> context() const {
#ifdef QUINTET_EXAMPLE_TLS
    if (!ca_file.empty())
      return std::make_shared<quintet::tls_client_context>(quintet::tls_client_options{.ca_file = ca_file});
#endif
    return nullptr;
  }
};

}  // namespace example
