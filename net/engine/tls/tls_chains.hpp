// SPDX-License-Identifier: BSL-1.0
// tls_chains: the certificates of one reading of the files, each with its SSL_CTX.
#pragma once

#include "openssl.hpp"
#include "tls_context.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quintet::tls {

/// Does not change: a reload makes another one. The SSL_CTX call back into it, so handshakes keep it.
class tls_chains {
 public:
  /// Reads the files, and verifies that each key matches. Throws config_error.
  explicit tls_chains(const tls_options& options);
  tls_chains(const tls_chains&) = delete;
  tls_chains& operator=(const tls_chains&) = delete;

  [[nodiscard]] SSL_CTX& first() const noexcept { return *contexts_.front(); }
  [[nodiscard]] int days_to_expiry() const noexcept;

 private:
  void add(const tls_options& options, const tls_certificate& files);
  void ask_clients(SSL_CTX& context, const tls_options& options) const;
  [[nodiscard]] SSL_CTX* find(std::string_view server_name) const;
  static int choose_chain(SSL* ssl, int* alert, void* self) noexcept;
  static int require_protocol(SSL* ssl, int* alert, void*) noexcept;
  static int choose_protocol(SSL* ssl, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                             unsigned offered_size, void* self) noexcept;

  std::vector<context_ptr> contexts_;
  std::vector<std::pair<std::string, SSL_CTX*>> by_name_;  // in lower case; the first wins
  std::vector<unsigned char> protocols_;                   // as ALPN sends them: each behind its length
};

}  // namespace quintet::tls
