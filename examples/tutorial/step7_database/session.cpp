// SPDX-License-Identifier: BSL-1.0
// session: each coroutine holds the state of its connection in its local variables.
#include "session.hpp"

#include "tutorial/wire.hpp"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace tutorial {
namespace {

// The log gets the codec's error. An orderly end is none.
void close_for(quintet::stream& s, quintet::error_code why) {
  if (why != quintet::errc::end_of_stream) s.close(why);
}

// A client that has logged in may be silent for an hour.
void trust(quintet::stream& s) {
  quintet::connection_limits limits = s.limits();
  limits.idle_timeout = std::chrono::hours(1);
  s.set_limits(limits);
}

}  // namespace

// ---- Clients --------------------------------------------------------------------------------------------------------

quintet::awaitable<> session::serve_client(quintet::stream& s) {
  if (!co_await log_in(s)) co_return;
  while (!s.closing()) {
    const auto request = co_await s.read_message(wire);
    if (!request) co_return close_for(s, request.error());
    co_await answer(s, *request);
  }
}

quintet::awaitable<bool> session::log_in(quintet::stream& s) const {
  for (int attempt = 0; attempt < login_attempts; ++attempt) {
    const auto message = co_await s.read_message(wire);
    if (!message) {
      close_for(s, message.error());
      co_return false;
    }
    quintet::bytes request = *message;
    if (take_word(request) == "login" && is_right(request)) {
      trust(s);
      reply(s, "ok");
      co_return true;
    }
    reply(s, "error: login NAME PASSWORD comes first");
  }
  co_return false;  // the connection closes when the replies have left
}

bool session::is_right(quintet::bytes credentials) const {
  const auto found = service_->passwords.find(take_word(credentials));
  return found != service_->passwords.end() && found->second == credentials;
}

// `request` is valid until the next read, so also while this coroutine waits for room or for the pool.
quintet::awaitable<> session::answer(quintet::stream& s, quintet::bytes request) {
  const quintet::bytes command = take_word(request);
  if (command == "ping") co_return reply(s, "pong");
  if (command == "insert") co_return insert(s, request);
  const bool counts = command == "count";
  if (!counts && command != "scan")
    co_return reply(s, "error: the requests are ping, insert TABLE ROW, scan TABLE [FROM] and count TABLE TEXT");
  const std::shared_ptr<const table> found = service_->data.find(take_word(request));
  if (!found) co_return reply(s, "error: no such table");
  if (counts) {
    const std::size_t rows = co_await s.offload([&] { return found->count(request); });
    co_return reply(s, "count " + std::to_string(rows));
  }
  const auto from = to_number(request.empty() ? "0" : request, SIZE_MAX);
  if (!from) co_return reply(s, "error: FROM is the number of a row");
  co_await scan(s, cursor(found, *from));
}

void session::insert(quintet::stream& s, quintet::bytes rest) {
  const quintet::bytes name = take_word(rest);
  constexpr std::size_t longest = 4000;  // fits into a message of the cursor
  if (name.empty() || rest.size() > longest) return reply(s, "error: insert TABLE ROW, with at most 4000 bytes");
  reply(s, service_->data.insert(name, rest) ? "ok" : "error: the database is full");
}

quintet::awaitable<> session::scan(quintet::stream& s, cursor rows) {
  std::size_t count = 0;
  for (auto batch = rows.next(); !batch.empty(); batch = rows.next()) {
    for (const std::string& row : batch) reply(s, "row " + row);
    count += batch.size();
    if (!co_await s.until_writable() || s.closing()) co_return;  // the connection has failed
    if (s.draining()) co_return reply(s, "error: the server stops; the next row is " + std::to_string(rows.position()));
  }
  reply(s, "end " + std::to_string(count));
}

// ---- The admin port -------------------------------------------------------------------------------------------------

quintet::awaitable<> session::serve_admin(quintet::stream& s) {
  while (const auto message = co_await s.read_message(wire)) {
    if (*message == "ping") {
      reply(s, "pong");
    } else if (*message == "status") {
      reply(s, service_->status());
    } else if (*message == "drain") {
      reply(s, "draining");
      service_->drain();
    } else {
      reply(s, "error: the requests are ping, status and drain");
    }
  }
}

}  // namespace tutorial
