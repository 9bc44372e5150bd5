// SPDX-License-Identifier: BSL-1.0
// postgres: a small server of PostgreSQL's protocol, for psql, pgbench and drivers: a place to begin a database.
#include "session.hpp"
#include "siblings.hpp"

#include "common/bus_peers.hpp"
#include "common/options.hpp"
#include "common/tls_options.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace {

constexpr std::size_t longest = 1'000'000;  // seconds

std::string refusal(const quintet::error_code& why) {
  postgres::message_writer out;
  if (why == quintet::errc::too_many_connections) out.response('E', "FATAL", postgres::too_many_clients());
  return out.data();
}

// The server accepts a few more clients than there may be sessions: most of these log in or send a CancelRequest at
// once. Beyond that, a client is told so before it has said what it wants; libpq shows the reason unless it has begun
// to ask for TLS.
void set_limits(quintet::config& config, const postgres::service& all) {
  constexpr std::size_t spare = 32;
  config.accepting.max_connections = all.max_connections + spare;
  config.accepting.refuse_when_full = true;
  config.accepting.on_refused = [](quintet::error_code why, const quintet::address&) { return refusal(why); };
  config.limits.max_input = 2 * postgres::largest_message;
  config.limits.first_byte_timeout = all.login_timeout;
}

quintet::address::kind kind_of(const quintet::listen_options& l) {
  return l.descriptor < 0 ? quintet::address(l.at).type() : quintet::address::kind::none;
}

/// What the command line says beside the server's own options.
struct options {
  std::size_t login_s = 60, idle_s = 0, statement_s = 0, drain_s = 5, node = 1;
  std::string users, local_method, siblings;
  example::tls_files tls;
};

options parse(int argc, char** argv, quintet::config& config, postgres::service& all) {
  options o;
  example::command_line line(
      "postgres",
      "A small server of PostgreSQL's protocol 3.0: SELECT 1, pg_sleep(), generate_series(), a table "
      "kv (k, v) in memory with INSERT, UPDATE and SELECT by key.");
  line.server(config)
      .number("--max-connections", all.max_connections, 1, 1'000'000,
              "sessions, without those of the priority port; one more gets an error")
      .number("--login-timeout", o.login_s, 1, longest, "seconds for the login")
      .number("--idle-timeout", o.idle_s, 0, longest, "seconds until a silent client is closed; 0: never")
      .number("--statement-timeout", o.statement_s, 0, 1'000'000, "seconds for a statement; 0: no limit")
      .text("--users", o.users, "file with lines NAME:PASSWORD [none: everybody is trusted]", "FILE")
      .text("--auth-local", o.local_method, "peer: on Unix sockets the system names the client [as on TCP]", "METHOD")
      .number("--drain", o.drain_s, 0, longest, "seconds for statements in progress after SIGTERM")
      .text("--siblings", o.siblings,
            "bus addresses of the processes that share the port, this one among them: a CancelRequest finds its "
            "session in any of them [none: the port is not shared]",
            "NODE=ADDRESS[,NODE=ADDRESS...]")
      .number("--node", o.node, 1, 1'000'000, "number of this process in --siblings");
  o.tls.add_to(line, "speak TLS with clients that ask for it, or begin with it");
  line.try_it(
          "  postgres --listen 127.0.0.1:5433 &\n  psql -h 127.0.0.1 -p 5433 -U ann -c 'SELECT 1'\n"
          "  echo 'SELECT 1;' | pgbench -h 127.0.0.1 -p 5433 -n -T 5 -c 10 -M prepared -f -")
      .parse(argc, argv);
  return o;
}

// Since version 17 of libpq a client may begin with TLS, and must name the protocol then: so no client of another
// protocol can be led here.
void set_tls(const options& o, quintet::config& config, postgres::service& all) {
  all.tls = o.tls.context({"postgresql"});
  if (!all.tls) return;
  const auto direct = o.tls.context({"postgresql"}, true);
  for (quintet::listen_options& l : config.listen) {
    if (kind_of(l) != quintet::address::kind::ipv4 && kind_of(l) != quintet::address::kind::ipv6) continue;
    l.tls = direct;
    l.tls_begins = quintet::tls_beginning::if_detected;
  }
}

void apply(const options& o, quintet::config& config, postgres::service& all) {
  all.login_timeout = std::chrono::seconds(o.login_s);
  all.idle_timeout = std::chrono::seconds(o.idle_s);
  all.statement_timeout = std::chrono::seconds(o.statement_s);
  if (!o.users.empty()) all.users.load(o.users);
  all.has_peer_authentication = o.local_method == "peer";
  if (!o.local_method.empty() && !all.has_peer_authentication)
    throw quintet::config_error("--auth-local: '" + o.local_method + "' is not a method; it must be peer");
  using enum quintet::address::kind;
  for (quintet::listen_options& l : config.listen) {
    // As with PostgreSQL, every user of the system may connect: the login decides.
    if (all.has_peer_authentication && kind_of(l) == unix_path) l.mode = 0777;
    if (!o.siblings.empty() && (kind_of(l) == ipv4 || kind_of(l) == ipv6)) l.sharing = quintet::port_sharing::processes;
  }
  set_limits(config, all);
  set_tls(o, config, all);
}

void serve(const options& o, const quintet::config& config, postgres::service& all) {
  quintet::server server(config, postgres::session(all));
  std::optional<postgres::siblings> others;
  if (!o.siblings.empty()) {
    others.emplace(o.node, example::bus_peers_from(o.siblings, "--siblings"), server.connections());
    all.cancel_elsewhere = [&others](quintet::cancel_key key) { others->cancel(key); };
  }
  const quintet::drain_on_signals drainer(server, std::chrono::seconds(o.drain_s));
  server.start();
  all.priority_port = server.priority_port();
  example::announce_listeners(config, server.addresses());
  server.main_loop().run();
  server.finish();
}

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::session_defaults({"127.0.0.1:5433"});
  postgres::service all;
  const options o = parse(argc, argv, config, all);
  try {
    apply(o, config, all);
    serve(o, config, all);
  } catch (...) {
    return example::report_exception("postgres");
  }
}
