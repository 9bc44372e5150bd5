// SPDX-License-Identifier: BSL-1.0
// users: who may log in. With OpenSSL's libcrypto passwords are checked by SCRAM-SHA-256; without it they travel as
// clear text.
#pragma once

#include "protocol.hpp"

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
  /// Returns whether nobody was added: then the server trusts everybody.
  [[nodiscard]] bool empty() const noexcept { return secrets_.empty(); }
  /// [any thread] Returns whether the client knows the password of `name`. Asks also for a name that nobody has.
  quintet::awaitable<bool> authenticate(quintet::stream& s, const std::string& name) const;

 private:
#ifdef QUINTET_EXAMPLE_SCRAM
  using secret = scram_secret;
#else
  using secret = std::string;
#endif
  std::map<std::string, secret> secrets_;  // by name
};

}  // namespace postgres
