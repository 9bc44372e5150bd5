// SPDX-License-Identifier: BSL-1.0
// users_scram: AuthenticationSASL with SCRAM-SHA-256.
#include "scram.hpp"
#include "users.hpp"

namespace postgres {

namespace {

scram_secret unpack(const std::string& s) {
  constexpr std::size_t salt = scram_secret::salt_size, key = scram_secret::key_size;
  return {s.substr(0, salt), s.substr(salt, key), s.substr(salt + key)};
}

}  // namespace

void users::add(const std::string& name, bytes password) {
  const auto secret = make_scram_secret(password, random_bytes(scram_secret::salt_size));
  secrets_[name] = secret.salt + secret.stored_key + secret.server_key;
}

quintet::awaitable<bool> users::authenticate(quintet::stream& s, const std::string& name) const {
  const auto found = secrets_.find(name);
  scram_exchange exchange(found != secrets_.end() ? unpack(found->second) : make_stand_in(name),
                          to_base64(random_bytes(18)));
  using namespace std::string_view_literals;
  request_password(s, 10, "SCRAM-SHA-256\0\0"sv);  // AuthenticationSASL
  const std::string first = co_await read_password_message(s);
  message_reader initial(first);  // SASLInitialResponse
  if (initial.string() != "SCRAM-SHA-256") throw fatal_error("08P01", "client selected an unknown SASL mechanism");
  const auto size = initial.int32();
  request_password(s, 11, exchange.begin(initial.take(quintet::as_size(size))));  // AuthenticationSASLContinue
  const std::string last = exchange.finish(co_await read_password_message(s));
  if (last.empty()) co_return false;
  request_password(s, 12, last);  // AuthenticationSASLFinal
  co_return true;
}

}  // namespace postgres
