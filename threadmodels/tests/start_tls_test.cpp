// SPDX-License-Identifier: BSL-1.0
// start_tls_test: TLS that begins in mid-stream, in all models and both flavours: what may come before it, and what
// ends a handshake.
// ctest: EACH_ENGINE OPTIONAL_LIBS quintet::tls OpenSSL::SSL
#include "../../net/tests/support/certificates.hpp"
#include "../../net/tests/support/sockets.hpp"
#include "../../net/tests/support/tls_peer.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "tls/starting_tls.hpp"
#include "tls/tls_client.hpp"
#include "waiting.hpp"

#include <quintet/net/connection.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/net/tls.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;
using testing::tls_peer;

void check_echo(combination c) {
  tls_service s;
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
  tls_service s;
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
  tls_service s;
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
  tls_service s;
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
  tls_service s;
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
  tls_service s;
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
  tls_service s;
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
  tls_service s;
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
  tls_service s;
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

/// Asks for TLS; its read ends in time, and then it reads again.
struct impatient {
  tls_service* of;
  std::atomic<bool>* reads_again;
  awaitable<> operator()(stream& s) const {
    (void)co_await s.read_exactly(request.size());
    begin_tls(s, *of);
    {
      const auto limit = s.with_read_deadline(s.loop().now() + 10ms);
      if (co_await s.read() || !limit.has_passed()) std::abort();
    }
    s.loop().after(0ms, [again = reads_again] { *again = true; });
    while (const auto in = co_await s.read()) reply(s, *in);
  }
};

// The answer still waits for the peer when the handler's read ends, and then comes something from outside.
void check_ended_reads(model kind) {
  tls_service s;
  s.answer = 8'000'000;
  std::atomic<bool> reads_again = false;
  running<server> srv(plain_at_first({kind, flavour::coroutine}, s), impatient{&s, &reads_again});
  client raw = asking(srv);
  BOOST_TEST(eventually([&] { return reads_again.load(); }));
  BOOST_TEST(!srv->connections().send(s.last, "news\n"));
  BOOST_TEST(raw.receive(s.answer) == std::string(s.answer, 'S'));
  client secret = over_tls(std::move(raw));
  BOOST_TEST(secret.receive_line() == "news");
}

void check_refusals(combination c) {
  tls_service s;
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
  running<server> srv(conf, tls_echo{&s});
  client plain = asking(srv);
  BOOST_TEST(plain.receive(1) == "N");
  BOOST_TEST(s.has(s.refused, system_error_code(EOPNOTSUPP)));
  plain.send("who");
  BOOST_TEST(plain.receive(5) == "plain");
}

void check_unix(model kind) {
  tls_service s;
  config conf = plain_at_first({kind, flavour::callback}, s);
  const testing::scratch_directory folder;
  conf.listen.emplace_back("unix:" + folder.file("socket"));
  running<server> srv(conf, tls_echo{&s});
  client local = client::over(testing::connected_to(srv->addresses()[1]).release());
  local.send(request);
  BOOST_TEST(local.receive(1) == "N");
  BOOST_TEST(s.has(s.refused, system_error_code(EOPNOTSUPP)));
}

void check_moves(model kind) {
  tls_service s;
  running<server> srv(plain_at_first({kind, flavour::callback}, s), tls_echo{&s});
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
BOOST_DATA_TEST_CASE(outside_waits_when_a_read_ends, data::make(all_models), kind) { check_ended_reads(kind); }
BOOST_DATA_TEST_CASE(some_cannot_begin, data::make(all_combinations), c) { check_refusals(c); }
BOOST_DATA_TEST_CASE(unix_sockets_cannot_begin, data::make(all_models), kind) { check_unix(kind); }
BOOST_DATA_TEST_CASE(it_moves_afterwards, data::make(all_models), kind) { check_moves(kind); }

}  // namespace quintet::test
