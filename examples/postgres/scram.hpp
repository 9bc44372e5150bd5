// SPDX-License-Identifier: BSL-1.0
// scram: the server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding. Needs OpenSSL's libcrypto.
#pragma once

#include <quintet/base/bytes.hpp>

#include <cstddef>
#include <string>

namespace postgres {

/// What a server keeps of a password, which cannot be had from it.
struct scram_secret {
  static constexpr int iterations = 4096;
  static constexpr std::size_t salt_size = 16, key_size = 32;
  std::string salt, stored_key, server_key;
};
/// Takes a millisecond, on purpose. Throws std::runtime_error if libcrypto fails.
[[nodiscard]] scram_secret make_scram_secret(quintet::bytes password, std::string salt);
/// Returns a secret that belongs to no password, and whose salt is always the same for a name, as that of a user is.
[[nodiscard]] scram_secret make_stand_in(quintet::bytes name);
[[nodiscard]] std::string random_bytes(std::size_t size);
[[nodiscard]] std::string to_base64(quintet::bytes from);

/// One login. Throws fatal_error 08P01 for what is no message of SCRAM.
class scram_exchange {
 public:
  scram_exchange(scram_secret of, std::string server_nonce) : secret_(std::move(of)), nonce_(std::move(server_nonce)) {}
  /// Takes client-first-message, returns server-first-message.
  [[nodiscard]] std::string begin(quintet::bytes client_first);
  /// Takes client-final-message, returns server-final-message; nothing if the client does not know the password.
  [[nodiscard]] std::string finish(quintet::bytes client_final) const;

 private:
  scram_secret secret_;
  std::string nonce_;         // the client's and the server's
  std::string gs2_header_;    // of client-first-message
  std::string auth_message_;  // without its last part
};

}  // namespace postgres
