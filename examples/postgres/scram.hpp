// SPDX-License-Identifier: BSL-1.0
// scram: the server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), with the channel binding tls-server-end-point, on
// OpenSSL's libcrypto.
#pragma once

#include <quintet/base/bytes.hpp>

#include <string>
#include <utility>

namespace postgres {

/// The data that the server stores instead of a password, which cannot be computed from it.
struct scram_secret {
  static constexpr int iterations = 4096;
  std::string salt, stored_key, server_key;
};
/// Takes about a millisecond, so that trying many passwords is expensive.
[[nodiscard]] scram_secret make_scram_secret(quintet::bytes password, std::string salt);
/// Returns a secret that no password matches. A name always gets the same salt, so it looks like that of a user.
[[nodiscard]] scram_secret make_stand_in(quintet::bytes name);
[[nodiscard]] std::string make_salt();
[[nodiscard]] std::string make_nonce();

/// Binds a login to its TLS connection.
struct channel_binding {
  bool can_bind = false;  ///< the mechanism was offered: a client that believes that it was not has been deceived
  std::string data = {};  ///< the hash of the server's certificate; empty: the client has chosen the other mechanism
};

/// One login. Throws fatal_error 08P01 for malformed messages.
class scram_exchange {
 public:
  scram_exchange(scram_secret of, std::string nonce, channel_binding binding = {})
      : secret_(std::move(of)), nonce_(std::move(nonce)), binding_(std::move(binding)) {}
  /// Takes client-first-message, returns server-first-message.
  [[nodiscard]] std::string begin(quintet::bytes client_first);
  /// Takes client-final-message, returns server-final-message; an empty text if the client does not know the password.
  [[nodiscard]] std::string finish(quintet::bytes client_final) const;

 private:
  scram_secret secret_;
  std::string nonce_;  // first only the server's part; begin() puts the client's before it
  channel_binding binding_;
  std::string gs2_header_;    // of client-first-message
  std::string auth_message_;  // begin() writes its first two parts; finish() adds the third
};

}  // namespace postgres
