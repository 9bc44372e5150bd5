// SPDX-License-Identifier: BSL-1.0
// session: the handler of one client, a coroutine: startup, then one message after the other.
#pragma once

#include "sql.hpp"
#include "store.hpp"
#include "users.hpp"

#include <quintet/net/stream.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace postgres {

using quintet::awaitable;
using quintet::stream;

/// A statement with its arguments, and the cursor of its result: each Execute continues where the last one stopped.
struct portal {
  std::shared_ptr<const statement> what;
  std::vector<value> arguments = {};  // values of the operands
  std::vector<format> formats = {};   // of the columns, as Bind gives them
  std::string tag = {};               // of CommandComplete; empty before the first Execute
  std::vector<value> row = {};        // the row of a result that has only one; empty once it has been sent
  std::int64_t next = 0;              // the next number of a series, or the least key of the next row of the table
  std::uint64_t left = 0;             // rows that a series still has; of the table: 1 while it may have more
  std::size_t count = 0;              // changed rows
};

/// An object of a session, and the bytes of the message that has made it.
template <class T>
struct kept {
  T is;
  std::size_t size = 0;
};

/// The state that all sessions share. Only the store and the counts change while the server runs.
struct service {
  std::size_t max_connections = 100;
  std::chrono::seconds login_timeout{60}, idle_timeout{0}, statement_timeout{0};  ///< zero: none
  postgres::users users;
  std::shared_ptr<quintet::handshake_source> tls;  ///< null: encryption is refused
  bool has_peer_authentication = false;            ///< clients on Unix sockets log in as their system user
  postgres::store store;
  std::atomic<std::size_t> sessions{0}, health_checks{0};          ///< `health_checks`: sessions of the priority port
  std::atomic<std::uint16_t> priority_port{0};                     ///< 0: none
  std::function<void(quintet::cancel_key)> cancel_elsewhere = {};  ///< empty: no process shares the port
};

struct seat_return {
  void operator()(std::atomic<std::size_t>* sessions) const noexcept { --*sessions; }
};
/// One of the `max_connections` sessions, or a health check. Its destructor makes room for another one.
using seat = std::unique_ptr<std::atomic<std::size_t>, seat_return>;

using settings = std::map<std::string, std::string>;
/// Returns the settings that SHOW and SET know, with their first values.
[[nodiscard]] settings initial_settings(std::chrono::seconds statement_timeout);

/// Returns whether a statement may wait: for time, for a computation, or for a client that reads slowly.
[[nodiscard]] bool may_wait(action does) noexcept;

/// For a client that finds `max_connections` sessions.
[[nodiscard]] fatal_error too_many_clients();

class session {
 public:
  /// `all` must outlive the server, which copies this session for each client.
  explicit session(service& all)
      : all_(&all),
        statement_timeout_(all.statement_timeout),
        defaults_(std::make_shared<const settings>(initial_settings(all.statement_timeout))) {}
  /// Returns when the connection is to be closed.
  awaitable<> operator()(stream& s);

 private:
  // session.cpp
  using parameters = std::map<std::string, std::string>;
  awaitable<std::optional<parameters>> read_startup(stream& s);
  awaitable<seat> log_in(stream& s);
  awaitable<> authenticate(stream& s, const std::string& user);
  awaitable<> serve(stream& s);
  [[noreturn]] static void end_reading(stream& s, bool is_late, quintet::error_code why);
  bool process(char type, message_reader in);
  struct prepared_objects {
    std::map<std::string, kept<std::shared_ptr<const statement>>> statements;
    std::map<std::string, kept<portal>> portals;
  };
  prepared_objects& prepared();
  struct parsed_text {
    std::string text;
    std::vector<std::shared_ptr<const statement>> all;
  };
  std::shared_ptr<const parsed_text> parsed(std::string text);
  portal open(std::shared_ptr<const statement> what);
  bool query_at_once(message_reader in);
  awaitable<> query(stream& s, message_reader in);
  void parse(message_reader in);
  void bind(message_reader in);
  void describe(message_reader in);
  bool execute_at_once(message_reader in);
  awaitable<> execute(stream& s, message_reader in);
  void close(message_reader in);
  void write_out(stream& s);
  static void check_open(stream& s, bool is_open);
  awaitable<> send(stream& s);

  // statements.cpp
  void check_transaction(action next) const;
  void run_at_once(portal& p, std::int32_t most_rows);
  awaitable<> run(stream& s, portal& p, std::int32_t most_rows);
  awaitable<> send_part(stream& s);
  awaitable<> begin(stream& s, portal& p);
  void change(portal& p);
  void end_transaction(portal& p);
  bool append_rows(portal& p, std::int32_t most_rows, std::int64_t& sent);
  bool next_row(portal& p, std::vector<value>& row) const;
  static awaitable<value> add_up(stream& s, const portal& p);
  const std::string* find_setting(const std::string& name) const;
  const std::string& setting(const std::string& name) const;
  const std::string& shown(const std::string& name) const;
  void set(const std::string& name, const std::string& to);

  service* all_;
  std::chrono::milliseconds statement_timeout_;
  static constexpr std::size_t most_unsent = 16 * 1024;
  message_writer out_;
  std::shared_ptr<const settings> defaults_;
  std::vector<std::pair<const std::string*, std::string>> settings_;  // those that this session has set
  std::shared_ptr<const parsed_text> last_query_;
  std::shared_ptr<prepared_objects> prepared_;  // made when they are first used
  char status_ = 'I';                           // idle; 'T': in a transaction; 'E': in a transaction that has failed
  bool has_changed_ = false;                    // this transaction has changed the table
};

}  // namespace postgres
