// SPDX-License-Identifier: BSL-1.0
// tls_context_test: certificates by name, of clients, and their files, which change, are cut off, or do not match.
// ctest: OPTIONAL_LIBS quintet::tls OpenSSL::SSL
#include <quintet/net/engine/filter/handshake.hpp>
#include <quintet/net/tls.hpp>

#include "certificates.hpp"
#include "sockets.hpp"
#include "tls_peer.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

namespace quintet {
namespace {

using testing::certificate;
using testing::certificate_files;
using testing::tls_peer;
using enum tls_client_certificates;

struct outcome {
  error_code failed;
  std::shared_ptr<const tls_info> info;
};

outcome connect(tls_context& context, tls_peer& peer) {
  const auto shaking = context.begin({});
  for (;;) {
    (void)peer.connect();
    std::string out;
    const std::string records = peer.take_records();
    if (records.empty()) return {.failed = errc::incomplete_message, .info = nullptr};
    const auto r = shaking->step(records, out);
    peer.receive_records(out);
    if (r.failed) return {.failed = r.failed, .info = nullptr};
    if (!r.is_done) continue;
    (void)peer.connect();
    (void)peer.decrypted({});  // tickets
    return {.failed = {}, .info = shaking->take_filter()->info()};
  }
}

std::string subject_for(tls_context& context, const std::string& server_name) {
  tls_peer peer;
  if (!server_name.empty()) peer.ask_for_server(server_name);
  const outcome got = connect(context, peer);
  BOOST_REQUIRE(!got.failed);
  BOOST_TEST(got.info->server_name == server_name);
  return peer.server_subject();
}

std::string refusal_of(const tls_options& options) {
  try {
    const tls_context context(options);
    return "none";
  } catch (const config_error& why) {
    return why.what();
  }
}

struct fixture {
  testing::scratch_directory folder;
  certificate first{{.name = "first"}}, second{{.name = "second", .alternatives = "DNS:b.example,DNS:*.c.example"}};
  certificate_files one{folder.file("one"), first}, two{folder.file("two"), second};
};

BOOST_FIXTURE_TEST_CASE(the_name_decides_which_certificate_is_shown, fixture) {
  tls_context context({.certificates = {{one.chain, one.key}, {two.chain, two.key}}});
  for (const char* const name : {"", "other.example", "c.example", "x.y.c.example"})
    BOOST_TEST(subject_for(context, name) == "first");
  for (const char* const name : {"b.example", "B.Example", "x.c.example"})
    BOOST_TEST(subject_for(context, name) == "second");
}

BOOST_FIXTURE_TEST_CASE(names_of_the_options_replace_those_of_the_certificate, fixture) {
  tls_context context({.certificates = {{one.chain, one.key}, {two.chain, two.key, {"z.example"}}}});
  BOOST_TEST(subject_for(context, "b.example") == "first");
  BOOST_TEST(subject_for(context, "z.example") == "second");
}

BOOST_FIXTURE_TEST_CASE(options_that_cannot_be_are_refused, fixture) {
  BOOST_TEST(refusal_of({}).find("certificates is empty") != std::string::npos);
  tls_options o{.certificates = {{one.chain, one.key}}};
  BOOST_TEST(refusal_of(o) == "none");
  o.protocols = {""};
  BOOST_TEST(refusal_of(o).find("protocols") != std::string::npos);
  o.protocols = {};
  o.tickets = 17;
  BOOST_TEST(refusal_of(o).find("tickets") != std::string::npos);
  o.tickets = 0;
  o.clients = required;
  BOOST_TEST(refusal_of(o).find("client_ca_file") != std::string::npos);
  o.client_ca_file = folder.file("missing");
  BOOST_TEST(refusal_of(o).find("missing") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(files_that_cannot_be_used_are_named, fixture) {
  const std::string whole = first.pem();
  testing::write_file(one.chain, whole.substr(0, whole.size() / 2));
  BOOST_TEST(refusal_of({.certificates = {{one.chain, one.key}}}).find(one.chain) != std::string::npos);
  testing::write_file(one.chain, whole + second.pem().substr(0, 200));  // the second of the chain
  BOOST_TEST(refusal_of({.certificates = {{one.chain, one.key}}}).find(one.chain) != std::string::npos);
  one.write(first);
  const std::string mixed = refusal_of({.certificates = {{one.chain, two.key}}});
  BOOST_TEST(mixed.find(two.key) != std::string::npos);
  testing::write_file(one.key, first.key_pem().substr(0, 60));
  BOOST_TEST(refusal_of({.certificates = {{one.chain, one.key}}}).find(one.key) != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_reload_serves_the_new_certificate_or_keeps_the_old_one, fixture) {
  tls_context context({.certificates = {{one.chain, one.key}}});
  one.write(certificate({.name = "newer"}));
  BOOST_TEST(subject_for(context, "") == "first");
  BOOST_TEST(!context.reload());
  BOOST_TEST(subject_for(context, "") == "newer");
  testing::write_file(one.chain, second.pem());  // the key is still another one's
  const auto why = context.reload();
  BOOST_REQUIRE(why.has_value());
  BOOST_TEST(why->find(one.key) != std::string::npos);
  BOOST_TEST(why->find("PRIVATE") == std::string::npos);
  BOOST_TEST(subject_for(context, "") == "newer");
  BOOST_TEST(context.reloads() == 1U);
  BOOST_TEST(context.failed_reloads() == 1U);
}

/// Returns why the client refuses the server, if it does.
error_code refusal_by(tls_client_context& by, tls_context& server) {
  const auto client = by.begin("localhost"), other = server.begin({});
  std::string to_server, to_client;
  for (int flights = 0; flights < 4; ++flights) {
    const handshake::result here = client->step(to_client, to_server);
    to_client.erase(0, here.consumed);
    if (here.failed || here.is_done) return here.failed;
    to_server.erase(0, other->step(to_server, to_client).consumed);
  }
  return errc::end_of_stream;
}

BOOST_FIXTURE_TEST_CASE(a_client_reloads_whom_it_trusts, fixture) {
  const certificate ca({.name = "own CA", .is_ca = true}), strange({.name = "another CA", .is_ca = true});
  one.write(certificate({.alternatives = "DNS:localhost"}, &ca));
  tls_context server({.certificates = {{one.chain, one.key}}});
  testing::write_file(two.chain, strange.pem());
  tls_client_context client({.ca_file = two.chain});
  BOOST_TEST(refusal_by(client, server) == make_error_code(errc::tls_certificate_refused));
  testing::write_file(two.chain, "nothing");
  const auto why = client.reload();
  BOOST_REQUIRE(why.has_value());
  BOOST_TEST(why->find(two.chain) != std::string::npos);
  BOOST_TEST(refusal_by(client, server) == make_error_code(errc::tls_certificate_refused));
  testing::write_file(two.chain, ca.pem());
  BOOST_TEST(!client.reload());
  BOOST_TEST(!refusal_by(client, server));
  BOOST_TEST(client.reloads() == 1U);
  BOOST_TEST(client.failed_reloads() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_handshake_outlives_a_reload, fixture) {
  tls_context context({.certificates = {{one.chain, one.key}}});
  tls_peer peer;
  (void)peer.connect();
  const auto shaking = context.begin({});
  one.write(second);
  BOOST_TEST(!context.reload());
  std::string out;
  BOOST_TEST(!shaking->step(peer.take_records(), out).failed);
  peer.receive_records(out);
  BOOST_TEST(peer.connect());
  BOOST_TEST(peer.server_subject() == "first");
}

BOOST_AUTO_TEST_CASE(days_to_expiry_are_those_of_the_first_to_expire) {
  const testing::scratch_directory folder;
  const certificate_files a(folder.file("a"), certificate({.to = 86'400 * 90 + 60}));
  const certificate_files b(folder.file("b"), certificate({.to = 86'400 * 3 + 60}));
  const certificate_files c(folder.file("c"), certificate({.from = -86'400 * 9, .to = -60}));
  BOOST_TEST(tls_context({.certificates = {{a.chain, a.key}}}).days_to_expiry() == 90);
  BOOST_TEST(tls_context({.certificates = {{a.chain, a.key}, {b.chain, b.key}}}).days_to_expiry() == 3);
  BOOST_TEST(tls_context({.certificates = {{c.chain, c.key}}}).days_to_expiry() == -1);
}

// ---- Certificates of clients ----------------------------------------------------------------------------------------

struct with_clients : fixture {
  tls_options asking(tls_client_certificates how) {
    testing::write_file(folder.file("ca.pem"), ca.pem());
    return {.certificates = {{one.chain, one.key}}, .clients = how, .client_ca_file = folder.file("ca.pem")};
  }
  outcome of_client(tls_client_certificates how, const certificate* shown, int version = 0) {
    tls_context context(asking(how));
    tls_peer peer(version);
    if (shown) peer.show(*shown);
    return connect(context, peer);
  }
  certificate ca{{.name = "ca", .is_ca = true}};
};

BOOST_FIXTURE_TEST_CASE(clients_may_or_must_show_a_certificate, with_clients) {
  const certificate alice({.name = "alice", .alternatives = "DNS:alice.example,IP:10.0.0.1,email:a@example"}, &ca);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    BOOST_TEST((of_client(required, nullptr, version).failed == errc::tls_certificate_missing));
    const outcome without = of_client(optional, nullptr, version);
    BOOST_REQUIRE(!without.failed);
    BOOST_TEST(!without.info->certificate);
    for (const auto how : {optional, required}) {
      const outcome got = of_client(how, &alice, version);
      BOOST_REQUIRE(!got.failed);
      const tls_peer_certificate& shown = *got.info->certificate;
      BOOST_TEST(shown.is_verified);
      BOOST_TEST(shown.subject == "CN=alice");
      BOOST_TEST(shown.names == (std::vector<std::string>{"DNS:alice.example", "IP:10.0.0.1", "email:a@example"}),
                 boost::test_tools::per_element());
      unsigned char digest[32];
      X509_digest(alice.x509(), EVP_sha256(), digest, nullptr);
      BOOST_TEST(shown.fingerprint == std::to_array(digest), boost::test_tools::per_element());
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_certificate_that_is_shown_must_be_valid, with_clients) {
  const certificate other_ca({.name = "ca", .is_ca = true});
  const certificate stranger({.name = "alice"}, &other_ca), own_word({.name = "alice"});
  const certificate late({.name = "alice", .from = -86'400, .to = -60}, &ca);
  const certificate early({.name = "alice", .from = 3600, .to = 86'400}, &ca);
  for (const auto how : {optional, required}) {
    BOOST_TEST((of_client(how, &stranger).failed == errc::tls_certificate_refused));
    BOOST_TEST((of_client(how, &own_word).failed == errc::tls_certificate_refused));
    BOOST_TEST((of_client(how, &late).failed == errc::tls_certificate_expired));
    BOOST_TEST((of_client(how, &early).failed == errc::tls_certificate_expired));
  }
}

}  // namespace
}  // namespace quintet
