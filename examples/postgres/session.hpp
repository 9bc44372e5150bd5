// SPDX-License-Identifier: BSL-1.0
// session: the handler of one client, a coroutine: startup, then one message after the other.
#pragma once

#include "service.hpp"
#include "sql.hpp"
#include "waiting.hpp"

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

/// Returns what SHOW shows.
[[nodiscard]] std::map<std::string, std::string> initial_settings(std::chrono::seconds statement_timeout);

class session {
 public:
  /// `all` must outlive the server, which copies this session for each client.
  explicit session(service& all) : all_(&all), settings_(initial_settings(all.statement_timeout)) {}
  /// Returns when the connection is to be closed.
  awaitable<> operator()(stream& s);

 private:
  // session.cpp
  awaitable<bool> log_in(stream& s);
  awaitable<std::map<std::string, std::string>> read_startup(stream& s);
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
  void check_interrupts(stream& s);
  std::pair<const std::string, std::string>* find_setting(const std::string& name);
  std::pair<const std::string, std::string>& setting(const std::string& name);
  void set(const std::string& name, const std::string& to);

  service* all_;
  message_writer out_;
  std::map<std::string, std::string> settings_;
  std::map<std::string, std::shared_ptr<const statement>> statements_;
  std::map<std::string, std::shared_ptr<portal>> portals_;
  char status_ = 'I';         // idle, 'T': in a transaction, 'E': in one that has failed
  bool has_changed_ = false;  // the table, in this transaction
  std::shared_ptr<const session_key> key_;
  std::shared_ptr<cancel_state> cancel_;
  quintet::time_point deadline_ = quintet::time_point::max();  // of the statement
};

}  // namespace postgres
