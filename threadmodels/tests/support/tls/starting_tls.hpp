// SPDX-License-Identifier: BSL-1.0
// starting_tls: handlers that begin TLS in mid-stream, and their clients before it.
#pragma once

#include "../../../../net/tests/support/certificates.hpp"
#include "../../../../net/tests/support/tls_peer.hpp"
#include "../client.hpp"
#include "../combination.hpp"
#include "../running.hpp"
#include "tls_client.hpp"

#include <quintet/net/connection.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/net/tls.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quintet::test {

inline constexpr bytes request = "TLS?";

/// The arguments of the handlers, and the log of the server.
struct tls_service {
  std::shared_ptr<handshake_source> context = any_tls();
  handshake_limits limits = {};
  std::size_t answer = 1;  // bytes
  event_loop* moves_to = nullptr;
  std::mutex mutex;
  connection_id last;  // that was asked for TLS
  std::vector<error_code> closed, refused, logged;

  void note(std::vector<error_code>& in, error_code why) {
    const std::lock_guard lock(mutex);
    in.push_back(why);
  }
  bool has(const std::vector<error_code>& in, error_code why) {
    const std::lock_guard lock(mutex);
    return std::ranges::count(in, why) > 0;
  }
};

/// Says 'S' and begins TLS, or says 'N'. Nothing can be written in between.
inline void begin_tls(connection& c, tls_service& s) {
  {
    const std::lock_guard lock(s.mutex);
    s.last = c.id();
  }
  if (const error_code why = c.start_tls(s.context, std::string(s.answer, 'S'), s.limits)) {
    s.note(s.refused, why);
    c.write("N");
  } else if (c.write("secret") || c.write_error() != system_error_code(EINPROGRESS)) {
    std::abort();
  }
}
inline void reply(connection& c, bytes in) {
  c.write(in != "who" ? in : tls_info_of(c) ? tls_info_of(c)->version : "plain");
}

/// Leaves what is behind the request unused.
struct tls_echo {
  tls_service* of;
  std::size_t operator()(connection& c, bytes in) const {
    if (!in.starts_with(request)) {
      if (in == "move" && of->moves_to) c.move_to(*of->moves_to);
      return reply(c, in), in.size();
    }
    begin_tls(c, *of);
    return request.size();
  }
  void on_close(connection&, error_code why) const { of->note(of->closed, why); }
};
struct tls_echo_coroutine {
  tls_service* of;
  awaitable<> operator()(stream& s) const {
    for (bool is_plain = true;;) {
      if (is_plain) {
        const auto first = co_await s.read_exactly(request.size());
        if (!first) break;
        is_plain = false;
        if (*first == request)
          begin_tls(s, *of);
        else
          s.write(*first);
      }
      const auto in = co_await s.read();
      if (!in) break;
      reply(s, *in);
    }
    of->note(of->closed, s.failure());
  }
};

inline config plain_at_first(combination c, tls_service& s) {
  config conf{
      .listen = {{"127.0.0.1:0", {.tls_begins = tls_beginning::on_request}}}, .model = c.kind, .threads = {.loops = 2}};
  conf.log = [&s](const log_event& e) { s.note(s.logged, e.reason); };
  return conf;
}

/// Calls check(server) with a server of the combination's flavour.
template <class Check>
void with_server(combination c, tls_service& s, const config& conf, Check check) {
  if (c.is_coroutine()) {
    running<server> srv(conf, tls_echo_coroutine{&s});
    check(srv);
  } else {
    running<server> srv(conf, tls_echo{&s});
    check(srv);
  }
}
template <class Check>
void with_server(combination c, tls_service& s, Check check) {
  with_server(c, s, plain_at_first(c, s), check);
}

inline client asking(running<server>& srv, std::string_view more = {}) {
  client c(srv->port());
  c.send(std::string(request) + std::string(more));
  return c;
}

inline std::string hello_of(testing::tls_peer& peer) {
  (void)peer.connect();
  return peer.take_records();
}

inline client secured(running<server>& srv) {
  client raw = asking(srv);
  BOOST_TEST(raw.receive(1) == "S");
  return over_tls(std::move(raw));
}

}  // namespace quintet::test
