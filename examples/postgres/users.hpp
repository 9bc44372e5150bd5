// SPDX-License-Identifier: BSL-1.0
// users: who may log in. With OpenSSL's libcrypto passwords are checked by SCRAM-SHA-256; without it they travel as
// clear text. On a Unix socket the system can say who the client is.
#pragma once

#include "protocol.hpp"

#include <quintet/net/connection.hpp>
#include <quintet/net/stream.hpp>

#include <map>
#include <string>

#ifdef QUINTET_EXAMPLE_SCRAM
#include "scram.hpp"
#endif

namespace postgres {

class users {
 public:
  /// [before run] Adds the users of a file with lines `NAME:PASSWORD`. Throws std::runtime_error.
  void load(const std::string& path);
  void add(const std::string& name, bytes password);
  /// Returns whether there are no users: then the server trusts everybody.
  [[nodiscard]] bool empty() const noexcept { return secrets_.empty(); }
  /// [any thread] Asks for the password of `name`, and returns whether the client knows it. Asks for names that nobody
  /// has, too: a stranger learns no names.
  quintet::awaitable<bool> authenticate(quintet::stream& s, const std::string& name) const;

 private:
#ifdef QUINTET_EXAMPLE_SCRAM
  using secret = scram_secret;
#else
  using secret = std::string;
#endif
  std::map<std::string, secret> secrets_;  // by name
};

/// [any thread] Returns whether the client may log in as `name`: it runs as the system's user of this name, as the
/// server's own user, or as root. May block: reads the system's list of users.
[[nodiscard]] bool is_local_user(const quintet::peer_credentials& client, const std::string& name);

}  // namespace postgres
