// SPDX-License-Identifier: BSL-1.0
// session: the wire protocol of the database: login, requests, cursors, and the requests of the admin port.
#pragma once

#include "database.hpp"

#include <quintet/net/handler.hpp>
#include <quintet/net/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace tutorial {

/// What all sessions share. All but `data` is set before the server runs, and does not change after that.
struct service {
  database data;
  std::map<std::string, std::string, std::less<>> passwords;  // by name
  std::uint16_t admin_port = 0;
  std::function<std::string()> status;  // called on the priority loop's thread: must not wait
  std::function<void()> drain;

  /// Unix sockets have no port, and no client is an admin where there is no admin port.
  [[nodiscard]] bool is_admin(const quintet::connection_ends& ends) const {
    return admin_port != 0 && ends.local.port() == admin_port;
  }
};

/// The handler: one coroutine for each connection, of clients or of the admin port.
class session {
 public:
  session(service& all, bool is_admin) noexcept : service_(&all), is_admin_(is_admin) {}
  quintet::awaitable<> operator()(quintet::stream& s) { return is_admin_ ? serve_admin(s) : serve_client(s); }

  static constexpr int login_attempts = 3;

 private:
  quintet::awaitable<> serve_client(quintet::stream& s);
  quintet::awaitable<> serve_admin(quintet::stream& s);
  quintet::awaitable<bool> log_in(quintet::stream& s) const;
  quintet::awaitable<> answer(quintet::stream& s, quintet::bytes request);
  static quintet::awaitable<> scan(quintet::stream& s, cursor rows);
  void insert(quintet::stream& s, quintet::bytes rest);
  [[nodiscard]] bool is_right(quintet::bytes credentials) const;

  service* service_;
  bool is_admin_;
};

/// Makes the handler of a server whose connections share `all`, which must outlive the server.
inline auto make_sessions(service& all) {
  return quintet::handler_factory(
      [&all](const quintet::connection_ends& ends) { return session(all, all.is_admin(ends)); });
}

}  // namespace tutorial
