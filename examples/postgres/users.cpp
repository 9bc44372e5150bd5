// SPDX-License-Identifier: BSL-1.0
// users: reads the file, asks for passwords, and looks up users of the system.
#include "users.hpp"

#include <quintet/net/connection/peer_info.hpp>
#include <quintet/net/names/tls_info.hpp>

#include <array>
#include <fstream>

#include <pwd.h>

namespace postgres {
namespace {

quintet::awaitable<std::string> ask(quintet::stream& s, std::int32_t kind, bytes data) {
  message_writer out;
  out.authentication(kind, data);
  s.write(out.data());
  message_codec codec(largest_startup_message);
  const bytes answer = (co_await s.read_message(codec)).value();
  if (answer.front() != 'p') throw fatal_error("08P01", "expected a password message");
  co_return std::string(answer.substr(message_header));
}

}  // namespace

void users::load(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos || colon == 0 || colon + 1 == line.size())
      throw std::runtime_error("--users " + path + ": a line is not NAME:PASSWORD");
    add(line.substr(0, colon), bytes(line).substr(colon + 1));
  }
  if (empty()) throw std::runtime_error("--users " + path + ": the file cannot be read, or has no user");
}

bool is_local_user(const quintet::peer_credentials& client, const std::string& name) {
  if (quintet::is_own_user(client)) return true;
  std::array<char, 16 * 1024> texts{};
  ::passwd entry{};
  ::passwd* found = nullptr;
  return ::getpwuid_r(client.user, &entry, texts.data(), texts.size(), &found) == 0 && found != nullptr &&
         name == entry.pw_name;
}

#ifdef QUINTET_EXAMPLE_SCRAM

void users::add(const std::string& name, bytes password) { secrets_[name] = make_scram_secret(password, make_salt()); }

// 10: AuthenticationSASL, 11: AuthenticationSASLContinue, 12: AuthenticationSASLFinal.
quintet::awaitable<bool> users::authenticate(quintet::stream& s, const std::string& name) const {
  using namespace std::string_view_literals;
  const auto found = secrets_.find(name);
  const quintet::tls_info* const tls = quintet::tls_info_of(s);
  const std::string end_point = tls ? tls->end_point : std::string();
  const bytes mechanisms = "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"sv;
  const std::string first = co_await ask(s, 10, end_point.empty() ? mechanisms.substr(19) : mechanisms);
  message_reader in(first);
  const std::string chosen = in.string();
  const bool binds = chosen == "SCRAM-SHA-256-PLUS" && !end_point.empty();
  scram_exchange exchange(found != secrets_.end() ? found->second : make_stand_in(name), make_nonce(),
                          {.can_bind = !end_point.empty(), .data = binds ? end_point : std::string()});
  if (!binds && chosen != "SCRAM-SHA-256") throw fatal_error("08P01", "client selected an unknown SASL mechanism");
  const auto size = quintet::as_size(in.int32());
  const std::string last = exchange.finish(co_await ask(s, 11, exchange.begin(in.take(size))));
  message_writer out;
  out.authentication(12, last);
  if (!last.empty()) s.write(out.data());
  co_return !last.empty();
}

#else

void users::add(const std::string& name, bytes password) { secrets_[name] = password; }

// 3: AuthenticationCleartextPassword.
quintet::awaitable<bool> users::authenticate(quintet::stream& s, const std::string& name) const {
  const std::string answer = co_await ask(s, 3, {});
  const auto found = secrets_.find(name);
  co_return found != secrets_.end() && message_reader(answer).string() == found->second;
}

#endif

}  // namespace postgres
