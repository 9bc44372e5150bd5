// SPDX-License-Identifier: BSL-1.0
// users_clear_text: AuthenticationCleartextPassword, for a build without libcrypto.
#include "users.hpp"

namespace postgres {

void users::add(const std::string& name, bytes password) { secrets_[name] = password; }

quintet::awaitable<bool> users::authenticate(quintet::stream& s, const std::string& name) const {
  request_password(s, 3);
  const std::string message = co_await read_password_message(s);
  const auto found = secrets_.find(name);
  co_return found != secrets_.end() && message_reader(message).string() == found->second;
}

}  // namespace postgres
