// SPDX-License-Identifier: BSL-1.0
// tls_filter_test: handshakes and records of TLS in memory: what is cut, changed, repeated or withheld.
// ctest: OPTIONAL_LIBS quintet::tls OpenSSL::SSL
#include <quintet/net/engine/filter/handshake.hpp>
#include <quintet/net/tls.hpp>

#include "certificates.hpp"
#include "engine_stream.hpp"
#include "sockets.hpp"
#include "tls_peer.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace quintet {
namespace {

using testing::numbered;
using testing::tls_peer;

/// A server's side and a client, which are connected by strings.
struct fixture {
  explicit fixture(int version = 0, tls_options options = {})
      : files(folder.file("own"), testing::certificate({.alternatives = "DNS:localhost"})),
        context(with(std::move(options))),
        peer(version) {}
  tls_options with(tls_options o) const {
    o.certificates = {{files.chain, files.key}};
    if (o.clients != tls_client_certificates::none) o.client_ca_file = files.chain;
    return o;
  }
  /// Gives the client's records to the server in pieces. Returns the reason why the handshake has failed.
  error_code connect(std::size_t piece = 1'000'000) {
    const auto shaking = context.begin({});
    std::string waiting;
    while (!ours) {
      (void)peer.connect();
      std::string records = peer.take_records();
      if (records.empty()) return errc::incomplete_message;
      for (bytes left = records; !left.empty(); left.remove_prefix(std::min(left.size(), piece))) {
        waiting += left.substr(0, piece);
        std::string out;
        last_was_light = shaking->is_light();
        light_steps += last_was_light ? 1 : 0;
        const auto r = shaking->step(waiting, out);
        waiting.erase(0, r.consumed);
        peer.receive_records(out);
        alert = out;
        if (r.failed) return r.failed;
        if (r.is_done) ours = shaking->take_filter();
      }
    }
    rest = waiting;
    return peer.connect() ? error_code() : errc::tls_handshake_failed;
  }
  filter::result decrypt(bytes records, std::size_t room = 1'000'000) {
    std::string place(room, '\0');
    const auto r = ours->decrypt(records, place);
    received.append(place, 0, r.produced);
    return r;
  }
  std::string encrypted(bytes plain) const {
    std::string place(plain.size() + 1000 + plain.size() / 16, '\0');
    const auto r = ours->encrypt(plain, place);
    BOOST_TEST(!r.failed);
    BOOST_TEST(r.consumed == plain.size());
    place.resize(r.produced);
    return place;
  }

  testing::scratch_directory folder;
  testing::certificate_files files;
  tls_context context;
  tls_peer peer;
  std::unique_ptr<filter> ours;
  std::string received, rest, alert;
  bool last_was_light = false;
  unsigned light_steps = 0;
};

BOOST_AUTO_TEST_CASE(both_versions_carry_both_directions) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    fixture f(version);
    BOOST_REQUIRE(!f.connect());
    BOOST_TEST(f.ours->info()->version == (version == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3"));
    const std::string text = numbered(300'000);
    const std::string records = f.peer.encrypted(text);
    BOOST_TEST(f.decrypt(records).consumed == records.size());
    BOOST_TEST((f.received == text));
    BOOST_TEST((f.peer.decrypted(f.encrypted(text)) == text));
  }
}

// The loop computes light steps itself, so one that checks a signature or computes a key must not be one.
BOOST_AUTO_TEST_CASE(only_the_last_step_of_a_server_without_client_certificates_is_light) {
  fixture newest(TLS1_3_VERSION), older(TLS1_2_VERSION);
  BOOST_REQUIRE(!newest.connect());
  BOOST_TEST(newest.last_was_light);
  BOOST_TEST(newest.light_steps == 1U);
  BOOST_REQUIRE(!older.connect());
  BOOST_TEST(older.light_steps == 0U);
  fixture demanding(TLS1_3_VERSION, {.clients = tls_client_certificates::optional});
  BOOST_REQUIRE(!demanding.connect());
  BOOST_TEST(demanding.light_steps == 0U);
}

BOOST_AUTO_TEST_CASE(a_handshake_may_be_cut_anywhere) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    fixture f(version);
    BOOST_REQUIRE(!f.connect(1));
    BOOST_TEST(f.rest.empty());
  }
}

BOOST_AUTO_TEST_CASE(what_follows_the_handshake_is_left) {
  fixture f(TLS1_3_VERSION);
  f.peer.says_when_connected = "GET / HTTP/1.1";
  BOOST_REQUIRE(!f.connect());
  BOOST_TEST(!f.rest.empty());
  (void)f.decrypt(f.rest);
  BOOST_TEST(f.received == "GET / HTTP/1.1");
}

BOOST_AUTO_TEST_CASE(a_part_of_a_record_is_not_consumed) {
  fixture f;
  BOOST_REQUIRE(!f.connect());
  std::string records = f.peer.encrypted("one");
  records += f.peer.encrypted("two");
  for (std::size_t size = 0; size < records.size(); ++size) {
    if (f.received.empty()) {
      const auto r = f.decrypt(bytes(records).substr(0, size));
      if (r.consumed > 0) BOOST_TEST(f.received == "one");
    }
  }
}

BOOST_AUTO_TEST_CASE(plain_bytes_without_room_stay_inside) {
  fixture f;
  BOOST_REQUIRE(!f.connect());
  const std::string text = numbered(20'000);
  std::string records = f.peer.encrypted(text);
  while (f.received.size() < text.size()) {
    const auto r = f.decrypt(records, 777);
    BOOST_REQUIRE(r.produced > 0);
    records.erase(0, r.consumed);
  }
  BOOST_TEST((f.received == text));
}

BOOST_AUTO_TEST_CASE(records_fit_into_any_room) {
  fixture f;
  BOOST_REQUIRE(!f.connect());
  const std::string text = numbered(50'000);
  std::string heard;
  for (std::size_t room = 200, sent = 0; sent < text.size(); room = room * 2 % 40'000 + 200) {
    std::string place(room, '\0');
    const auto r = f.ours->encrypt(bytes(text).substr(sent), place);
    BOOST_REQUIRE(!r.failed);
    BOOST_REQUIRE(r.consumed > 0);
    heard += f.peer.decrypted(place.substr(0, r.produced));
    sent += r.consumed;
  }
  BOOST_TEST((heard == text));
}

BOOST_AUTO_TEST_CASE(close_notify_ends_both_ways) {
  fixture f;
  BOOST_REQUIRE(!f.connect());
  std::array<char, 512> place;
  const auto last = f.ours->finish(place);
  (void)f.peer.decrypted({place.data(), last.produced});
  BOOST_TEST(f.peer.has_ended());
  std::string records = f.peer.encrypted("last");
  records += f.peer.finished();
  const auto r = f.decrypt(records);
  BOOST_TEST(f.received == "last");
  BOOST_TEST((r.ended || f.decrypt({}).ended));
}

namespace {

std::string alert_of(int level, int description) {
  return std::string("\x15\x03\x03\x00\x02", 5) + static_cast<char>(level) + static_cast<char>(description);
}

/// Whether the peer can have the alert taken for the end of a handshake that it has not completed.
bool completes(handshake& shaking, bytes alert, std::string& out) {
  const handshake::result r = shaking.step(alert, out);
  constexpr char close_notify = 0, user_canceled = 90;
  const bool is_warning = alert[6] == user_canceled || (alert[5] == 1 && alert[6] != close_notify);
  BOOST_TEST((r.failed || is_warning), "no failure by alert " << int{alert[5]} << ", " << int{alert[6]});
  return r.is_done;
}

}  // namespace

// Anybody can send an alert before there are keys, close_notify among them.
BOOST_AUTO_TEST_CASE(no_alert_completes_a_handshake_of_a_server) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION})
    for (const int level : {1, 2})
      for (int description = 0; description < 128; ++description) {
        fixture f(version);
        (void)f.peer.connect();
        std::string out;
        const auto shaking = f.context.begin({});
        BOOST_TEST(!shaking->step(f.peer.take_records(), out).is_done);
        BOOST_TEST(!completes(*shaking, alert_of(level, description), out));
      }
}

BOOST_AUTO_TEST_CASE(no_alert_completes_a_handshake_of_a_client) {
  const fixture f;
  tls_client_context context({.ca_file = f.files.chain});
  for (const int level : {1, 2})
    for (int description = 0; description < 128; ++description) {
      std::string out;
      const auto shaking = context.begin("localhost");
      BOOST_TEST(!shaking->step({}, out).is_done);
      BOOST_TEST(!completes(*shaking, alert_of(level, description), out));
    }
}

BOOST_AUTO_TEST_CASE(a_changed_record_is_no_data) {
  fixture f;
  BOOST_REQUIRE(!f.connect());
  std::string record = f.peer.encrypted("secret");
  record.back() = static_cast<char>(record.back() ^ 1);
  const auto r = f.decrypt(record);
  BOOST_TEST((r.failed == errc::tls_bad_record));
  BOOST_TEST(f.received.empty());
  std::array<char, 512> place;
  BOOST_TEST(f.ours->finish(place).produced > 0U);  // an alert, in place of close_notify
}

BOOST_AUTO_TEST_CASE(a_record_that_is_too_long_is_refused_by_its_header) {
  fixture f;
  BOOST_REQUIRE(!f.connect());
  BOOST_TEST((f.decrypt(bytes("\x17\x03\x03\x48\x01", 5)).failed == errc::tls_bad_record));
}

BOOST_AUTO_TEST_CASE(key_updates_are_counted) {
  fixture f(TLS1_3_VERSION);
  BOOST_REQUIRE(!f.connect());
  int updates = 0;
  error_code failed;
  while (!failed && updates < 1000) {
    failed = f.decrypt(f.peer.key_update()).failed;
    ++updates;
  }
  BOOST_TEST((failed == errc::tls_flood));
  BOOST_TEST(updates == 33);
}

BOOST_AUTO_TEST_CASE(data_allows_more_key_updates_and_each_is_answered) {
  fixture f(TLS1_3_VERSION);
  BOOST_REQUIRE(!f.connect());
  const std::string text = numbered(16'384);
  for (int i = 0; i < 200; ++i) {
    BOOST_REQUIRE(!f.decrypt(f.peer.key_update()).failed);
    BOOST_REQUIRE(!f.decrypt(f.peer.encrypted(text)).failed);
    BOOST_REQUIRE(f.peer.decrypted(f.encrypted("pong")) == "pong");
  }
}

// ---- Handshakes that fail -------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(old_versions_are_refused_with_an_alert) {
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    fixture f(version);
    BOOST_TEST((f.connect() == errc::tls_version_refused));
    BOOST_TEST(f.alert.size() == 7U);
  }
  fixture newer(TLS1_2_VERSION, {.only_tls_1_3 = true});
  BOOST_TEST((newer.connect() == errc::tls_version_refused));
}

BOOST_AUTO_TEST_CASE(protocols_are_agreed_on_or_refused) {
  fixture f(0, {.protocols = {"h2", "http/1.1"}});
  f.peer.ask_for_protocol("http/1.1");
  BOOST_REQUIRE(!f.connect());
  BOOST_TEST(f.ours->info()->protocol == "http/1.1");
  fixture other(0, {.protocols = {"postgresql"}});
  other.peer.ask_for_protocol("http/1.1");
  BOOST_TEST((other.connect() == errc::tls_no_protocol));
}

BOOST_AUTO_TEST_CASE(a_first_record_is_known_by_its_first_bytes) {
  fixture f;
  (void)f.peer.connect();
  const std::string hello = f.peer.take_records();
  for (std::size_t size = 0; size <= hello.size(); ++size) {
    const auto first = f.context.examine(bytes(hello).substr(0, size));
    BOOST_TEST(!first.failed);
    BOOST_TEST(first.is_whole == (size == hello.size()));
  }
  BOOST_TEST(f.context.examine({"\x16\x03\x01\x00\x01\x01", 6}).is_whole);  // RFC 8446, 5.1: in pieces of any size
  for (const bytes other : {bytes("GET / HTTP/1.1\r\n"), bytes("\x16\x02\x01", 3), bytes("\x16\x03\x05", 3),
                            bytes("\x16\x03\x01\x00\x00\x01", 6), bytes("\x16\x03\x01\x40\x01\x01", 6),
                            bytes("\x16\x03\x01\x02\x00\x02", 6), bytes("\x80\x2e\x01\x03", 4), bytes("\0\0", 2)})
    BOOST_TEST((f.context.examine(other).failed == errc::not_tls));
}

BOOST_AUTO_TEST_CASE(a_broken_hello_is_a_failed_handshake) {
  fixture f;
  (void)f.peer.connect();
  std::string hello = f.peer.take_records();
  std::fill(hello.begin() + 40, hello.end(), '\xFF');
  std::string out;
  BOOST_TEST((f.context.begin({})->step(hello, out).failed == errc::tls_handshake_failed));
  BOOST_TEST(!out.empty());
}

// Four records, as a message of 64 KiB needs; OpenSSL takes hellos of up to 128 KiB, and refuses what is in this one.
BOOST_AUTO_TEST_CASE(a_hello_of_64_kib_is_a_failed_handshake) {
  fixture f;
  std::string message = std::string("\x01\x01\x00\x00\x03\x03", 6) + std::string(65'534, 'x');
  std::string records;
  for (bytes left = message; !left.empty(); left.remove_prefix(std::min<std::size_t>(left.size(), 16'384))) {
    const bytes some = left.substr(0, 16'384);
    records += std::string("\x16\x03\x01", 3) + static_cast<char>(some.size() >> 8U) + static_cast<char>(some.size());
    records += some;
  }
  std::string out;
  BOOST_TEST((f.context.begin({})->step(records, out).failed == errc::tls_handshake_failed));
}

}  // namespace
}  // namespace quintet
