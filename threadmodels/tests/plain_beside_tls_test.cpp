// SPDX-License-Identifier: BSL-1.0
// plain_beside_tls_test: plain text and TLS at one port, in all models and both flavours: which clients are taken for
// plain ones. And handlers that cannot begin TLS.
// ctest: EACH_ENGINE OPTIONAL_LIBS quintet::tls OpenSSL::SSL
#include "tls/starting_tls.hpp"
#include "tls/tls_client.hpp"
#include "waiting.hpp"

#include <quintet/base/framing/delimiter.hpp>
#include <quintet/net/asio_stream.hpp>
#include <quintet/net/framed.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;
using testing::tls_peer;

const std::string half_a_header = "\x16\x03\x01";

config one_port(combination c, tls_service& s, duration timeout = patience) {
  config conf = plain_at_first(c, s);
  conf.listen = {{"127.0.0.1:0",
                  {.tls = any_tls(), .tls_begins = tls_beginning::if_detected, .handshakes = {.timeout = timeout}}}};
  return conf;
}

void check_all_kinds(combination c) {
  tls_service s;
  with_server(c, s, one_port(c, s), [&](auto& srv) {
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
  });
}

// A client that has finished sends no more of a header: it must not keep the loop busy until the time limit.
void check_ended_in_the_header(combination c) {
  tls_service s;
  with_server(c, s, one_port(c, s), [&](auto& srv) {
    client ended(srv->port());
    ended.send(half_a_header);
    ended.finish_sending();
    BOOST_TEST(ended.receive_rest() == (c.is_coroutine() ? "" : half_a_header));
    client silent(srv->port());
    silent.finish_sending();
    BOOST_TEST(silent.receive_rest().empty());
    BOOST_TEST(eventually([&] { return srv->statistics().handshakes.gone == 1; }));
    BOOST_TEST(srv->statistics().handshakes.failed == 0U);
  });
}

// Whoever says nothing, or half a header, is plain in the end. Afterwards each byte is an event.
void check_silent(combination c) {
  tls_service s;
  with_server(c, s, one_port(c, s, 20ms), [&](auto& srv) {
    client silent(srv->port()), half(srv->port());
    half.send(half_a_header);
    BOOST_TEST(eventually([&] { return srv->connections().count() == 2U; }));
    silent.send("plai");
    BOOST_TEST(silent.receive(4) == "plai");
    half.send("x");
    BOOST_TEST(half.receive(4) == half_a_header + "x");
    half.send("y");
    BOOST_TEST(half.receive(1) == "y");
    BOOST_TEST(srv->statistics().handshakes.failed == 0U);
    BOOST_TEST(s.logged.empty());
  });
}

struct urgent_lines {
  tls_service* of;
  void operator()(connection& c, bytes) const { begin_tls(c, *of); }
  static bool is_urgent(bytes message) { return message == "ping"; }
  static void on_urgent(urgent_reply& reply, bytes) { reply.write("pong\n"); }
};

// The filter of urgent messages may hold plain bytes, or answer them.
void check_urgent(model kind) {
  tls_service s;
  running<server> srv(plain_at_first({kind, flavour::callback}, s),
                      framed<delimiter, urgent_lines>{delimiter("\n"), urgent_lines{&s}});
  client c(srv->port());
  c.send("STARTTLS\npi");
  BOOST_TEST(c.receive(1) == "N");
  BOOST_TEST(s.has(s.refused, system_error_code(EOPNOTSUPP)));
  c.send("ng\n");
  BOOST_TEST(c.receive_line() == "pong");
}

// Its stream belongs to Asio's operations. Only a posted function can ask.
void check_asio(model kind) {
  tls_service s;
  const auto handler = [&s](asio_stream stream) -> boost::asio::awaitable<void> {
    char byte = 0;
    (void)stream.registry().post(stream.id(), [&s](connection& c) { begin_tls(c, s); });
    (void)co_await stream.async_read_some(boost::asio::buffer(&byte, 1), boost::asio::use_awaitable);
  };
  running<server> srv(plain_at_first({kind, flavour::callback}, s), handler);
  client c(srv->port());
  BOOST_TEST(c.receive(1) == "N");
  BOOST_TEST(s.has(s.refused, system_error_code(EOPNOTSUPP)));
}

}  // namespace

BOOST_DATA_TEST_CASE(both_share_a_port, data::make(all_combinations), c) { check_all_kinds(c); }
BOOST_DATA_TEST_CASE(the_end_within_a_header, data::make(all_combinations), c) { check_ended_in_the_header(c); }
BOOST_DATA_TEST_CASE(silent_clients_are_plain, data::make(all_combinations), c) { check_silent(c); }
BOOST_DATA_TEST_CASE(urgent_messages_and_no_tls, data::make(all_models), kind) { check_urgent(kind); }
BOOST_DATA_TEST_CASE(asio_streams_and_no_tls, data::make(all_models), kind) { check_asio(kind); }

}  // namespace quintet::test
