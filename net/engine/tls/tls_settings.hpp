// SPDX-License-Identifier: BSL-1.0
// tls_settings: what servers and clients set in an SSL_CTX alike.
#pragma once

#include "openssl.hpp"
#include "tls_context.hpp"

#include <string>
#include <vector>

namespace quintet::tls {

/// Returns a context with TLS 1.2 and 1.3, or 1.3 only, with the ciphers, buffers and limits of this library. It has no
/// session cache: tickets need none.
[[nodiscard]] context_ptr make_context(const SSL_METHOD& method, bool only_tls_1_3);
/// Reads a certificate and its key, and verifies that they match. Throws config_error, which names the file.
void use_certificate(SSL_CTX& context, const tls_certificate& files);
/// Trusts the CAs of a file. Throws config_error.
void trust(SSL_CTX& context, const std::string& ca_file);
/// Returns the names of protocols as ALPN sends them: each behind its length. Throws config_error.
[[nodiscard]] std::vector<unsigned char> as_alpn(const std::vector<std::string>& protocols);
/// Throws config_error with OpenSSL's oldest error.
[[noreturn]] void fail_with_error(const std::string& file);

}  // namespace quintet::tls
