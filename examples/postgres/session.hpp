// SPDX-License-Identifier: BSL-1.0
// session: the handler of one client, a coroutine: startup, then one message after the other.
#pragma once

#include "protocol.hpp"
#include "service.hpp"
#include "settings.hpp"
#include "sql.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace postgres {

using quintet::awaitable;
using quintet::stream;

/// A statement with its arguments: a cursor, which Execute moves on.
struct portal {
  std::shared_ptr<const statement> what;
  std::vector<value> arguments = {};  // of its operands
  std::vector<format> formats = {};   // of its columns
  bool has_begun = false;
  std::vector<std::vector<value>> rows = {};  // that are left; used from the back
  std::int64_t next = 0;                      // key or number of the next row of a series or of the table
  std::uint64_t left = 0;                     // rows of a series, or 1 while the table may have more
  std::size_t changed = 0;                    // rows
  std::string tag = {};                       // of CommandComplete
};

class session {
 public:
  /// `all` must outlive the server, which copies this session for each client.
  explicit session(service& all) : all_(&all) {}
  /// Returns when the connection is to be closed.
  awaitable<> operator()(stream& s);

 private:
  // startup.cpp
  awaitable<bool> log_in(stream& s);
  awaitable<std::map<std::string, std::string>> read_startup(stream& s);
  void greet();

  // session.cpp
  awaitable<> serve(stream& s);
  awaitable<bytes> read(stream& s);
  awaitable<> process(stream& s, char type, message_reader in);
  awaitable<> query(stream& s, bytes text);
  void parse(message_reader in);
  void bind(message_reader in);
  void describe(message_reader in);
  awaitable<> execute(stream& s, message_reader in);
  void close(message_reader in);
  void get_ready();
  void fail(const sql_error& e);
  awaitable<> send(stream& s);
  void describe_rows(const statement& what, const std::vector<format>& formats);
  std::shared_ptr<const statement> find_statement(const std::string& name) const;
  std::shared_ptr<portal> find_portal(const std::string& name) const;

  // statements.cpp
  awaitable<> run(stream& s, portal& p, std::int32_t most_rows);
  awaitable<> begin(stream& s, portal& p);
  void change(portal& p);
  void set_transaction(portal& p);
  awaitable<> send_rows(stream& s, portal& p, std::int32_t most_rows);
  bool next_row(portal& p, std::vector<value>& row) const;
  void check_interrupts(stream& s);

  service* all_;
  message_writer out_;
  settings settings_;
  std::map<std::string, std::shared_ptr<const statement>> statements_;
  std::map<std::string, std::shared_ptr<portal>> portals_;
  char status_ = 'I';         // of ReadyForQuery
  bool is_skipping_ = false;  // until Sync, after an error
  bool has_changed_ = false;  // the table, in this transaction
  std::shared_ptr<const session_key> key_;
  std::shared_ptr<cancel_state> cancel_;
  quintet::time_point deadline_ = quintet::time_point::max();  // of the statement
};

}  // namespace postgres
