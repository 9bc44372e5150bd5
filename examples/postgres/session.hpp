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
#include <string>
#include <utility>
#include <vector>

namespace postgres {

using quintet::awaitable;
using quintet::stream;

/// A statement with its arguments: a cursor, which Execute moves on.
struct portal {
  std::shared_ptr<const statement> what;
  std::vector<value> arguments = {};  // of its operands
  std::vector<format> formats = {};   // of its columns
  std::string tag = {};               // of CommandComplete; empty before it begins
  std::vector<value> row = {};        // the only one, or none
  std::int64_t next = 0;              // number or key of the next row of a series or of the table
  std::uint64_t left = 0;             // rows of a series, or 1 while the table may have more
  std::size_t count = 0;              // of changed rows
};

/// What all sessions share. All but the store and the number of sessions is set before the server runs.
struct service {
  std::size_t max_connections = 100;
  std::chrono::seconds login_timeout{60}, idle_timeout{0}, statement_timeout{0};  ///< zero: none
  postgres::users users;
  postgres::store store;
  std::atomic<std::size_t> sessions{0};
  std::function<void(quintet::cancel_key)> cancel_elsewhere = {};  ///< empty: no process shares the port
};

/// One of the sessions that there may be.
struct leaving {
  void operator()(std::atomic<std::size_t>* sessions) const noexcept { --*sessions; }
};
using seat = std::unique_ptr<std::atomic<std::size_t>, leaving>;

/// Returns what SHOW shows.
[[nodiscard]] std::map<std::string, std::string> initial_settings(std::chrono::seconds statement_timeout);

class session {
 public:
  /// `all` must outlive the server, which copies this session for each client.
  explicit session(service& all)
      : all_(&all), statement_timeout_(all.statement_timeout), settings_(initial_settings(all.statement_timeout)) {}
  /// Returns when the connection is to be closed.
  awaitable<> operator()(stream& s);

 private:
  // session.cpp
  using parameters = std::map<std::string, std::string>;
  awaitable<parameters> read_startup(stream& s);
  awaitable<seat> log_in(stream& s);
  awaitable<> serve(stream& s);
  awaitable<bytes> read(stream& s);
  awaitable<> process(stream& s, char type, message_reader in);
  awaitable<> query(stream& s, const std::string& text);
  void parse(message_reader in);
  void bind(message_reader in);
  void describe(message_reader in);
  awaitable<> execute(stream& s, message_reader in);
  void close(message_reader in);
  awaitable<> send(stream& s);

  // statements.cpp
  awaitable<> run(stream& s, portal& p, std::int32_t most_rows);
  awaitable<> begin(stream& s, portal& p);
  void change(portal& p);
  void end_transaction(portal& p);
  awaitable<> send_rows(stream& s, portal& p, std::int32_t most_rows);
  bool next_row(portal& p, std::vector<value>& row) const;
  static awaitable<value> add_up(stream& s, const portal& p);
  std::pair<const std::string, std::string>* find_setting(const std::string& name);
  std::pair<const std::string, std::string>& setting(const std::string& name);
  void set(const std::string& name, const std::string& to);

  service* all_;
  std::chrono::milliseconds statement_timeout_;
  message_writer out_;
  std::map<std::string, std::string> settings_;
  std::map<std::string, std::shared_ptr<const statement>> statements_;
  std::map<std::string, std::shared_ptr<portal>> portals_;
  char status_ = 'I';         // idle, 'T': in a transaction, 'E': in one that has failed
  bool has_changed_ = false;  // the table, in this transaction
};

}  // namespace postgres
