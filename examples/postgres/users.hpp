// SPDX-License-Identifier: BSL-1.0
// users: who may log in. With OpenSSL's libcrypto (users_scram.cpp) a password never travels; without it
// (users_clear_text.cpp) it does.
#pragma once

#include "protocol.hpp"

#include <quintet/net/stream.hpp>

#include <map>
#include <string>

namespace postgres {

class users {
 public:
  /// [before run] Adds the users of a file with lines `NAME:PASSWORD`. Throws std::runtime_error.
  void load(const std::string& path);
  /// [before run] Throws std::runtime_error if libcrypto fails.
  void add(const std::string& name, quintet::bytes password);
  /// Returns whether nobody was added: then the server trusts everybody.
  [[nodiscard]] bool empty() const noexcept { return secrets_.empty(); }
  /// [any thread] Returns whether the client knows the password of `name`. Takes as long for a name that nobody has.
  quintet::awaitable<bool> authenticate(quintet::stream& s, const std::string& name) const;

 private:
  std::map<std::string, std::string> secrets_;  // by name
};

/// Returns the body of the client's next PasswordMessage. Throws fatal_error for another message.
quintet::awaitable<std::string> read_password_message(quintet::stream& s);
/// Sends an authentication request.
void request_password(quintet::stream& s, std::int32_t code, bytes data = {});

}  // namespace postgres
