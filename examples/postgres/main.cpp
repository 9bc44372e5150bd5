// SPDX-License-Identifier: BSL-1.0
// postgres: a small server of PostgreSQL's protocol, for psql, pgbench and drivers: a place to begin a database.
#include "session.hpp"

#include "common/options.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

namespace {

constexpr std::size_t longest = 1'000'000;  // seconds

// The server accepts a few more clients than there may be sessions: to tell them so, and to hear CancelRequests.
void set_limits(quintet::config& config, const postgres::service& all) {
  constexpr std::size_t spare = 32;
  config.accepting.max_connections = all.max_connections + spare;
  config.limits.max_input = 2 * postgres::largest_message;
  config.limits.first_byte_timeout = all.login_timeout;
}

// As with PostgreSQL, every user of the system may connect: the login decides.
void open_unix_sockets(quintet::config& config) {
  for (quintet::listen_options& l : config.listen)
    if (l.descriptor < 0 && quintet::address(l.at).type() == quintet::address::kind::unix_path) l.mode = 0777;
}

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::session_defaults({"127.0.0.1:5433"});
  std::size_t login_s = 60, idle_s = 0, statement_s = 0, drain_s = 5;
  std::string users, local_method;
  postgres::service all;
  example::command_line("postgres",
                        "A small server of PostgreSQL's protocol 3.0: SELECT 1, pg_sleep(), generate_series(), a table "
                        "kv (k, v) in memory with INSERT, UPDATE and SELECT by key. No TLS.")
      .server(config)
      .number("--max-connections", all.max_connections, 1, 1'000'000, "sessions; one more gets an error")
      .number("--login-timeout", login_s, 1, longest, "seconds for the login")
      .number("--idle-timeout", idle_s, 0, longest, "seconds until a silent client is closed; 0: never")
      .number("--statement-timeout", statement_s, 0, 1'000'000, "seconds for a statement; 0: no limit")
      .text("--users", users, "file with lines NAME:PASSWORD [none: everybody is trusted]", "FILE")
      .text("--auth-local", local_method, "peer: on Unix sockets the system names the client [as on TCP]", "METHOD")
      .number("--drain", drain_s, 0, longest, "seconds for statements in progress after SIGTERM")
      .try_it(
          "  postgres --listen 127.0.0.1:5433 &\n  psql -h 127.0.0.1 -p 5433 -U ann -c 'SELECT 1'\n"
          "  echo 'SELECT 1;' | pgbench -h 127.0.0.1 -p 5433 -n -T 5 -c 10 -M prepared -f -")
      .parse(argc, argv);
  try {
    all.login_timeout = std::chrono::seconds(login_s);
    all.idle_timeout = std::chrono::seconds(idle_s);
    all.statement_timeout = std::chrono::seconds(statement_s);
    if (!users.empty()) all.users.load(users);
    all.has_peer_authentication = local_method == "peer";
    if (!local_method.empty() && !all.has_peer_authentication)
      throw quintet::config_error("--auth-local: '" + local_method + "' is not a method; it must be peer");
    if (all.has_peer_authentication) open_unix_sockets(config);
    set_limits(config, all);
    quintet::server server(config, postgres::session(all));
    const quintet::drain_on_signals drainer(server, std::chrono::seconds(drain_s));
    server.start();
    example::announce_listeners(config, server.addresses());
    server.main_loop().run();
    server.finish();
  } catch (...) {
    return example::report_exception("postgres");
  }
}
