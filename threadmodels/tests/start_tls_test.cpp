// SPDX-License-Identifier: BSL-1.0
// start_tls_test: TLS that begins in mid-stream, in all models and both flavours: what may come before it, and what
// ends a handshake; and plain connections beside TLS on one port.
// ctest: EACH_ENGINE OPTIONAL_LIBS quintet::tls OpenSSL::SSL
#include "../../net/tests/support/certificates.hpp"
#include "../../net/tests/support/sockets.hpp"
#include "../../net/tests/support/tls_peer.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "tls/tls_client.hpp"
#include "waiting.hpp"

#include <quintet/net/connection.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/net/tls.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;
using testing::tls_peer;

constexpr bytes request = "TLS?";

/// The arguments of the handlers, and the log of the server.
struct service {
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
void begin_tls(connection& c, service& s) {
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
void reply(connection& c, bytes in) { c.write(in != "who" ? in : tls_info_of(c) ? tls_info_of(c)->version : "plain"); }

/// Leaves what is behind the request unused.
struct echo {
  service* of;
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
struct echo_coroutine {
  service* of;
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

config plain_at_first(combination c, service& s) {
  config conf{
      .listen = {{"127.0.0.1:0", {.tls_begins = tls_beginning::on_request}}}, .model = c.kind, .threads = {.loops = 2}};
  conf.log = [&s](const log_event& e) { s.note(s.logged, e.reason); };
  return conf;
}

/// Calls check(server, service) with a server of each flavour.
template <class Check>
void with_server(combination c, service& s, Check check) {
  const config conf = plain_at_first(c, s);
  if (c.is_coroutine()) {
    running<server> srv(conf, echo_coroutine{&s});
    check(srv);
  } else {
    running<server> srv(conf, echo{&s});
    check(srv);
  }
}

client asking(running<server>& srv, std::string_view more = {}) {
  client c(srv->port());
  c.send(std::string(request) + std::string(more));
  return c;
}

std::string hello_of(tls_peer& peer) {
  (void)peer.connect();
  return peer.take_records();
}

client secured(running<server>& srv) {
  client raw = asking(srv);
  BOOST_TEST(raw.receive(1) == "S");
  return over_tls(std::move(raw));
}

void check_echo(combination c) {
  service s;
  with_server(c, s, [&](auto& srv) {
    for (int i = 0; i < 3; ++i) {
      client secret = secured(srv);
      secret.send("who");
      BOOST_TEST(secret.receive(7) == "TLSv1.3");
      secret.send(std::string(100'000, 'x'));
      BOOST_TEST(secret.receive(100'000) == std::string(100'000, 'x'));
      secret.finish_sending();
      BOOST_TEST(secret.receive_rest().empty());
      BOOST_TEST((secret.ended() == ending::orderly));
    }
    const handshake_statistics counted = srv->statistics().handshakes;
    BOOST_TEST(counted.begun == 3U);
    BOOST_TEST(counted.done == 3U);
  });
}

// A request that comes with the last flight is answered, and so is one with the end behind it.
void check_last_flight(combination c) {
  service s;
  with_server(c, s, [&](auto& srv) {
    client raw = asking(srv);
    BOOST_TEST(raw.receive(1) == "S");
    tls_peer peer;
    for (const char one : hello_of(peer)) raw.send({&one, 1});
    peer.says_when_connected = "request";
    while (!peer.connect()) peer.receive_records(raw.receive_some());
    std::string records = peer.take_records();
    records += peer.finished();
    raw.send(records);
    raw.finish_sending();
    BOOST_TEST(peer.decrypted(raw.receive_rest()) == "request");
    BOOST_TEST(peer.has_ended());
  });
}

// The answer is longer than what the socket takes.
void check_long_answer(combination c) {
  service s;
  s.answer = 8'000'000;
  with_server(c, s, [&](auto& srv) {
    client raw = asking(srv);
    BOOST_TEST(raw.receive(s.answer) == std::string(s.answer, 'S'));
    client secret = over_tls(std::move(raw));
    secret.send("who");
    BOOST_TEST(secret.receive(7) == "TLSv1.3");
  });
}

// Somebody has inserted bytes into the segment of the request, for the handler to believe after TLS.
void check_injected_before(combination c) {
  service s;
  with_server(c, s, [&](auto& srv) {
    tls_peer peer;
    for (const std::string& more : {std::string("x"), hello_of(peer)}) {
      client raw = asking(srv, more);
      const std::string rest = raw.receive_rest();
      BOOST_TEST((rest.empty() || rest == "S"));
    }
    BOOST_TEST(eventually([&] { return srv->statistics().handshakes.input_before == 2; }));
    BOOST_TEST(srv->statistics().handshakes.begun == 0U);
    BOOST_TEST(eventually([&] { return s.has(s.closed, errc::input_before_tls); }));
    BOOST_TEST(s.has(s.logged, errc::input_before_tls));
  });
}

void check_injected_between(combination c) {
  service s;
  with_server(c, s, [&](auto& srv) {
    client raw = asking(srv);
    BOOST_TEST(raw.receive(1) == "S");
    tls_peer peer;
    raw.send("x" + hello_of(peer));
    (void)raw.receive_rest();
    BOOST_TEST(eventually([&] { return s.has(s.closed, errc::not_tls); }));
    BOOST_TEST(srv->statistics().handshakes.not_tls == 1U);
  });
}

void check_half(combination c) {
  service s;
  s.limits.timeout = 300ms;
  with_server(c, s, [&](auto& srv) {
    tls_peer peer;
    const std::string hello = hello_of(peer);
    std::vector<client> halves;
    for (const std::size_t size : {std::size_t{0}, hello.size() / 2, hello.size()}) {
      halves.push_back(asking(srv));
      BOOST_TEST(halves.back().receive(1) == "S");
      halves.back().send(hello.substr(0, size));
    }
    for (client& half : halves) (void)half.receive_rest();
    BOOST_TEST(eventually([&] { return s.has(s.closed, errc::tls_handshake_timeout); }));
    BOOST_TEST(eventually([&] { return srv->statistics().handshakes.timed_out == 3; }));
  });
}

void check_those_that_leave(combination c) {
  service s;
  with_server(c, s, [&](auto& srv) {
    tls_peer peer;
    const std::string hello = hello_of(peer);
    for (const std::size_t size : {std::size_t{0}, hello.size() / 2, hello.size()}) {
      client raw = asking(srv);
      BOOST_TEST(raw.receive(1) == "S");
      raw.send(hello.substr(0, size));
      if (size == 0) raw.reset();
    }
    BOOST_TEST(eventually([&] { return srv->statistics().handshakes.gone == 3; }));
    BOOST_TEST(eventually([&] { return srv->connections().count() == 0U; }));
  });
}

// stop() and drain() end handshakes in progress, and wait for nobody.
void check_end(combination c, bool drains) {
  service s;
  with_server(c, s, [&](auto& srv) {
    client silent = asking(srv), half = asking(srv);
    BOOST_TEST(silent.receive(1) == "S");
    BOOST_TEST(half.receive(1) == "S");
    tls_peer peer;
    half.send(hello_of(peer));
    BOOST_TEST(!half.receive(5).empty());
    client open = secured(srv);
    open.send("x");
    BOOST_TEST(open.receive(1) == "x");
    if (drains)
      srv->drain(patience);
    else
      srv.stop();
    (void)silent.receive_rest();
    (void)half.receive_rest();
    (void)open.receive_rest();
    srv.join();
    BOOST_TEST(s.has(s.closed, errc::stopped));
  });
}

// Bytes and functions from outside wait until TLS has begun, and a close too.
void check_from_outside(combination c) {
  service s;
  with_server(c, s, [&](auto& srv) {
    client raw = asking(srv);
    BOOST_TEST(raw.receive(1) == "S");
    {
      const std::lock_guard lock(s.mutex);
      BOOST_TEST(!srv->connections().send(s.last, "news\n"));
    }
    client secret = over_tls(std::move(raw));
    BOOST_TEST(secret.receive_line() == "news");
  });
}

void check_refusals(combination c) {
  service s;
  with_server(c, s, [&](auto& srv) {
    client secret = secured(srv);
    if (!c.is_coroutine()) {
      secret.send(request);
      BOOST_TEST(secret.receive(1) == "N");
      BOOST_TEST(s.has(s.refused, system_error_code(EALREADY)));
    }
    s.context =
        std::make_shared<tls_client_context>(quintet::tls_client_options{.verification = tls_verification::none});
    client wrong = asking(srv);
    BOOST_TEST(wrong.receive(1) == "N");
    BOOST_TEST(s.has(s.refused, system_error_code(EINVAL)));
  });
  config conf = plain_at_first(c, s);
  s.context = any_tls();
  conf.listen = {"127.0.0.1:0"};
  running<server> srv(conf, echo{&s});
  client plain = asking(srv);
  BOOST_TEST(plain.receive(1) == "N");
  BOOST_TEST(s.has(s.refused, system_error_code(EOPNOTSUPP)));
  plain.send("who");
  BOOST_TEST(plain.receive(5) == "plain");
}

void check_unix(model kind) {
  service s;
  config conf = plain_at_first({kind, flavour::callback}, s);
  const testing::scratch_directory folder;
  conf.listen.emplace_back("unix:" + folder.file("socket"));
  running<server> srv(conf, echo{&s});
  client local = client::over(testing::connected_to(srv->addresses()[1]).release());
  local.send(request);
  BOOST_TEST(local.receive(1) == "N");
  BOOST_TEST(s.has(s.refused, system_error_code(EOPNOTSUPP)));
}

void check_moves(model kind) {
  service s;
  running<server> srv(plain_at_first({kind, flavour::callback}, s), echo{&s});
  if (srv->loops().size() < 2) return;
  client secret = secured(srv);
  for (int i = 0; i < 4; ++i) {
    s.moves_to = srv->loops()[static_cast<std::size_t>(i) % 2];
    secret.send("move");
    BOOST_TEST(secret.receive(4) == "move");
    secret.send("who");
    BOOST_TEST(secret.receive(7) == "TLSv1.3");
  }
}

// Plain text, TLS at once and TLS on request at one port.
void check_one_port(combination c) {
  service s;
  config conf = plain_at_first(c, s);
  conf.listen = {{"127.0.0.1:0", {.tls = any_tls(), .tls_begins = tls_beginning::if_detected}}};
  const auto check = [&](auto& srv) {
    client direct = over_tls(client(srv->port()));
    direct.send("dire");
    BOOST_TEST(direct.receive(4) == "dire");
    client plain(srv->port());
    plain.send("plai");
    BOOST_TEST(plain.receive(4) == "plai");
    client later = secured(srv);
    later.send("who");
    BOOST_TEST(later.receive(7) == "TLSv1.3");
    client slow(srv->port()), nearly(srv->port());
    nearly.send("\x16\x03xxxx");
    BOOST_TEST(nearly.receive(4) == std::string("\x16\x03xx"));
    tls_peer peer;
    for (const char one : hello_of(peer)) slow.send({&one, 1});
    while (!peer.connect()) peer.receive_records(slow.receive_some());
  };
  if (c.is_coroutine()) {
    running<server> srv(conf, echo_coroutine{&s});
    return check(srv);
  }
  running<server> srv(conf, echo{&s});
  check(srv);
}

}  // namespace

BOOST_DATA_TEST_CASE(the_same_handler_goes_on, data::make(all_combinations), c) { check_echo(c); }
BOOST_DATA_TEST_CASE(the_last_flight_brings_a_request, data::make(all_combinations), c) { check_last_flight(c); }
BOOST_DATA_TEST_CASE(a_long_answer_leaves_first, data::make(all_combinations), c) { check_long_answer(c); }
BOOST_DATA_TEST_CASE(bytes_before_tls_end_it, data::make(all_combinations), c) { check_injected_before(c); }
BOOST_DATA_TEST_CASE(bytes_after_the_answer_are_tls, data::make(all_combinations), c) { check_injected_between(c); }
BOOST_DATA_TEST_CASE(half_handshakes_end, data::make(all_combinations), c) { check_half(c); }
BOOST_DATA_TEST_CASE(clients_leave, data::make(all_combinations), c) { check_those_that_leave(c); }
BOOST_DATA_TEST_CASE(a_stop_waits_for_no_handshake, data::make(all_combinations), c) { check_end(c, false); }
BOOST_DATA_TEST_CASE(a_drain_waits_for_no_handshake, data::make(all_combinations), c) { check_end(c, true); }
BOOST_DATA_TEST_CASE(outside_waits_for_tls, data::make(all_combinations), c) { check_from_outside(c); }
BOOST_DATA_TEST_CASE(some_cannot_begin, data::make(all_combinations), c) { check_refusals(c); }
BOOST_DATA_TEST_CASE(unix_sockets_cannot_begin, data::make(all_models), kind) { check_unix(kind); }
BOOST_DATA_TEST_CASE(it_moves_afterwards, data::make(all_models), kind) { check_moves(kind); }
BOOST_DATA_TEST_CASE(plain_and_tls_share_a_port, data::make(all_combinations), c) { check_one_port(c); }

}  // namespace quintet::test
