// SPDX-License-Identifier: BSL-1.0
// tls_test: listeners with TLS, in all models: who is known, who is refused, what is cut off, what a reload changes.
// ctest: EACH_ENGINE OPTIONAL_LIBS quintet::tls OpenSSL::SSL
#include "../../net/tests/support/certificates.hpp"
#include "../../net/tests/support/long_runs.hpp"
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

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;
using testing::certificate;
using testing::certificate_files;
using testing::tls_peer;

/// What the server has closed, and said to its log.
struct told {
  std::mutex mutex;
  std::vector<error_code> closed;
  std::map<std::string, int> logged;
  bool has_closed_for(errc why) {
    const std::lock_guard lock(mutex);
    return std::ranges::count(closed, why) > 0;
  }
};

std::string facts_of(const tls_info* info) {
  if (!info) return "plain\n";
  return std::string(info->version) + " " + info->server_name + " " + info->protocol + " " +
         (info->certificate ? info->certificate->subject : "nobody") + "\n";
}

/// Says at once what it knows, then echoes.
struct mirror {
  told* seen;
  void on_open(connection& c) const { c.write(facts_of(tls_info_of(c))); }
  void operator()(connection& c, bytes in) const { c.write(in); }
  void on_close(connection&, error_code why) const {
    const std::lock_guard lock(seen->mutex);
    seen->closed.push_back(why);
  }
};
struct mirror_coroutine {
  awaitable<> operator()(stream& s) const {
    s.write(facts_of(tls_info_of(s)));
    while (const auto in = co_await s.read()) s.write(*in);
  }
};

struct fixture {
  fixture() { testing::write_file(folder.file("ca.pem"), ca.pem()); }
  config speaking(model kind, tls_options options = {}, handshake_limits limits = {}) {
    options.certificates = {{files.chain, files.key}};
    if (options.clients != tls_client_certificates::none) options.client_ca_file = folder.file("ca.pem");
    context = std::make_shared<tls_context>(options);
    config c{
        .listen = {{"127.0.0.1:0", {.tls = context, .handshakes = limits}}}, .model = kind, .threads = {.loops = 2}};
    c.log = [this](const log_event& e) {
      const std::lock_guard lock(seen.mutex);
      ++seen.logged[e.reason.message()];
    };
    return c;
  }
  tls_client_options showing(const char* name, const certificate& c) const {
    const certificate_files shown(folder.file(name), c);
    return {.chain_file = shown.chain, .key_file = shown.key};
  }

  testing::scratch_directory folder;
  certificate ca{{.name = "ca", .is_ca = true}};
  certificate_files files{folder.file("own"), certificate()};
  std::shared_ptr<tls_context> context;
  told seen;
};

template <class Server>
void check_facts(Server& srv) {
  client c = over_tls(client(srv->port()), {.server_name = "a.example", .protocol = "echo"});
  BOOST_TEST(c.receive_line().ends_with(" a.example echo nobody"));
  c.send("hello");
  BOOST_TEST(c.receive(5) == "hello");
  c.finish_sending();
  BOOST_TEST(c.receive_rest().empty());
  BOOST_TEST((c.ended() == ending::orderly));
}

void check_names(combination c) {
  fixture f;
  const config conf = f.speaking(c.kind, {.protocols = {"echo"}});
  if (c.is_coroutine()) {
    running<server> srv(conf, mirror_coroutine{});
    return check_facts(srv);
  }
  running<server> srv(conf, mirror{&f.seen});
  check_facts(srv);
}

// A client of another protocol, which somebody has led here, names none, or its own.
void check_demanded_protocol(model kind) {
  fixture f;
  running<server> srv(f.speaking(kind, {.protocols = {"echo"}, .needs_protocol = true}), mirror{&f.seen});
  for (const char* name : {"", "smtp"}) {
    client c = over_tls(client(srv->port()), {.protocol = name});
    BOOST_TEST(c.receive_rest().empty());
  }
  client c = over_tls(client(srv->port()), {.protocol = "echo"});
  BOOST_TEST(!c.receive_line().empty());
  BOOST_TEST(srv->statistics().handshakes.failed == 2U);
  const std::lock_guard lock(f.seen.mutex);
  BOOST_TEST(f.seen.logged[make_error_code(errc::tls_no_protocol).message()] > 0);
}

void check_clients(model kind) {
  fixture f;
  running<server> srv(f.speaking(kind, {.clients = tls_client_certificates::required}), mirror{&f.seen});
  const certificate alice({.name = "alice"}, &f.ca), late({.name = "late", .from = -86'400, .to = -60}, &f.ca);
  const certificate stranger({.name = "stranger"});
  client known = over_tls(client(srv->port()), f.showing("alice", alice));
  BOOST_TEST(known.receive_line().ends_with("CN=alice"));
  for (const auto& [name, shown] : {std::pair("late", &late), std::pair("stranger", &stranger)}) {
    client c = over_tls(client(srv->port()), f.showing(name, *shown));
    BOOST_TEST(c.receive_rest().empty());
  }
  client nobody = over_tls(client(srv->port()));
  BOOST_TEST(nobody.receive_rest().empty());
  BOOST_TEST(eventually([&] { return srv->statistics().handshakes.failed == 3; }));
  BOOST_TEST(srv->statistics().handshakes.bad_certificate == 3U);
  BOOST_TEST(srv->statistics().opened == 1U);
}

// Everyone gets an alert, or an end; the next one is served.
void check_strangers(model kind) {
  fixture f;
  running<server> srv(f.speaking(kind), mirror{&f.seen});
  std::string hello_of_64_kib;
  for (int i = 0; i < 4; ++i)
    hello_of_64_kib += std::string("\x16\x03\x01\x40\x00", 5) +
                       (i == 0 ? std::string("\x01\x00\xFF\xFC\x03\x03", 6) : "") +
                       std::string(i == 0 ? 16'378 : 16'384, 'x');
  for (const std::string& first :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100'000, '\xEE'), hello_of_64_kib}) {
    client c(srv->port());
    c.send(first);
    const std::string answer = c.receive_rest();
    BOOST_TEST((answer.empty() || answer.front() == '\x15'));
  }
  client old = over_tls(client(srv->port()), {.version = TLS1_1_VERSION});
  BOOST_TEST(old.receive_rest().empty());
  BOOST_TEST(eventually([&] { return srv->statistics().handshakes.failed == 4; }));
  const handshake_statistics counted = srv->statistics().handshakes;
  BOOST_TEST(counted.not_tls == 2U);
  BOOST_TEST(counted.otherwise_broken == 1U);
  BOOST_TEST(counted.bad_version == 1U);
  BOOST_TEST(srv->statistics().opened == 0U);
  client good = over_tls(client(srv->port()));
  BOOST_TEST(!good.receive_line().empty());
  const std::lock_guard lock(f.seen.mutex);
  BOOST_TEST(f.seen.logged[make_error_code(errc::not_tls).message()] > 0);
}

std::string hello_of(tls_peer& peer) {
  (void)peer.connect();
  return peer.take_records();
}

// The client's records come one byte at a time, and its last ones together with a request and the end.
void check_pieces(model kind) {
  fixture f;
  running<server> srv(f.speaking(kind), mirror{&f.seen});
  client raw(srv->port());
  tls_peer peer;
  for (const char c : hello_of(peer)) raw.send({&c, 1});
  peer.says_when_connected = "request";
  while (!peer.connect()) peer.receive_records(raw.receive_some());
  std::string records = peer.take_records();
  records += peer.finished();
  raw.send(records);
  raw.finish_sending();
  const std::string answer = peer.decrypted(raw.receive_rest());
  BOOST_TEST(answer.ends_with("\nrequest"));
  BOOST_TEST(peer.has_ended());
}

// A stream that ends without close_notify has lost what the client does not know of.
void check_truncation(model kind) {
  fixture f;
  running<server> srv(f.speaking(kind), mirror{&f.seen});
  client raw(srv->port());
  tls_peer peer;
  raw.send(hello_of(peer));
  while (!peer.connect()) peer.receive_records(raw.receive_some());
  std::string records = peer.take_records();
  records += peer.encrypted("cut");
  raw.send(records);
  raw.finish_sending();
  (void)raw.receive_rest();
  BOOST_TEST(eventually([&] { return f.seen.has_closed_for(errc::stream_truncated); }));
}

// Half-open ones stay until their time is over, hold no turn, and others are served meanwhile.
void check_half_handshakes(model kind) {
  fixture f;
  running<server> srv(f.speaking(kind, {}, {.timeout = 400ms, .at_once = 1}), mirror{&f.seen});
  tls_peer peer;
  const std::string hello = hello_of(peer);
  std::vector<client> halves;
  for (std::size_t i = 0; i < 20; ++i) {
    halves.emplace_back(srv->port());
    halves.back().send(hello.substr(0, i * hello.size() / 20));
  }
  client good = over_tls(client(srv->port()));
  BOOST_TEST(!good.receive_line().empty());
  for (client& half : halves) BOOST_TEST(half.receive_rest().empty());
  const handshake_statistics counted = srv->statistics().handshakes;
  BOOST_TEST(counted.timed_out == 20U);
  BOOST_TEST(counted.begun == 1U);
}

// One handshake has begun and stays; those that wait for its place leave. None of them begins.
void check_those_that_leave(model kind) {
  fixture f;
  running<server> srv(f.speaking(kind, {}, {.timeout = patience, .at_once = 1}), mirror{&f.seen});
  tls_peer peer;
  const std::string hello = hello_of(peer);
  client first(srv->port());
  first.send(hello);
  BOOST_TEST(!first.receive(5).empty());
  {
    std::vector<client> waiting;
    for (int i = 0; i < 20; ++i) {
      waiting.emplace_back(srv->port());
      waiting.back().send(hello);
      if (i % 2 == 0) waiting.back().reset();
    }
  }
  client last = over_tls(client(srv->port()));
  BOOST_TEST(eventually([&] { return srv->statistics().handshakes.gone == 20; }));
  first.close();
  BOOST_TEST(!last.receive_line().empty());
  const handshake_statistics counted = srv->statistics().handshakes;
  BOOST_TEST(counted.begun == 2U);
  BOOST_TEST(counted.gone == 21U);
  BOOST_TEST(counted.done == 1U);
}

void check_refusals(model kind) {
  fixture f;
  config conf = f.speaking(kind);
  conf.accepting.max_connections = 1;
  conf.accepting.refuse_when_full = true;
  conf.accepting.on_refused = [](error_code, const address&) { return std::string("plain words"); };
  running<server> srv(conf, mirror{&f.seen});
  client only = over_tls(client(srv->port()));
  BOOST_TEST(!only.receive_line().empty());
  client surplus(srv->port());
  BOOST_TEST(surplus.receive_rest().empty());
}

// Whoever has sent a request is answered; whoever has not finished its handshake is closed.
void check_drain(model kind) {
  fixture f;
  running<server> srv(f.speaking(kind), mirror{&f.seen});
  client half(srv->port());
  client open = over_tls(client(srv->port()));
  BOOST_TEST(!open.receive_line().empty());
  open.send("request");
  tls_peer peer;
  half.send(hello_of(peer));
  BOOST_TEST(!half.receive(5).empty());
  srv->drain(patience);
  BOOST_TEST(open.receive_rest() == "request");
  BOOST_TEST((open.ended() == ending::orderly));
  (void)half.receive_rest();
  srv.join();
}

void check_reloads(model kind) {
  fixture f;
  running<server> srv(f.speaking(kind), mirror{&f.seen});
  constexpr std::uint64_t wrong = 10;
  const std::uint64_t right = is_long() ? 990 : 30;
  std::atomic<bool> done = false;
  std::thread reloading([&] {
    for (std::uint64_t i = 0; i < right; ++i) {
      if (i % (right / wrong) == 0) {
        testing::write_file(f.files.key, "-----BEGIN");
        if (!f.context->reload()) std::abort();
      }
      f.files.write(certificate());
      if (f.context->reload()) std::abort();
    }
    done = true;
  });
  std::uint64_t clients = 0;
  for (; !done; ++clients) {
    client c = over_tls(client(srv->port()));
    BOOST_TEST(!c.receive_line().empty());
    c.send("x");
    BOOST_TEST(c.receive(1) == "x");
  }
  reloading.join();
  BOOST_TEST(f.context->reloads() == right);
  BOOST_TEST(f.context->failed_reloads() == wrong);
  BOOST_TEST(srv->statistics().handshakes.done == clients);
}

void check_plain_beside(model kind) {
  fixture f;
  config conf = f.speaking(kind);
  conf.listen.push_back("127.0.0.1:0");
  running<server> srv(conf, mirror{&f.seen});
  client plain(srv->addresses()[1].port()), secret = over_tls(client(srv->port()));
  BOOST_TEST(plain.receive_line() == "plain");
  BOOST_TEST(secret.receive_line().starts_with("TLSv1.3"));
}

}  // namespace

BOOST_DATA_TEST_CASE(a_handler_knows_what_was_agreed_on, data::make(all_combinations), c) { check_names(c); }
BOOST_DATA_TEST_CASE(a_protocol_is_demanded, data::make(all_models), kind) { check_demanded_protocol(kind); }
BOOST_DATA_TEST_CASE(clients_are_known_by_their_certificates, data::make(all_models), kind) { check_clients(kind); }
BOOST_DATA_TEST_CASE(strangers_are_refused_and_counted, data::make(all_models), kind) { check_strangers(kind); }
BOOST_DATA_TEST_CASE(records_come_in_pieces_and_together, data::make(all_models), kind) { check_pieces(kind); }
BOOST_DATA_TEST_CASE(an_end_without_notice_is_an_error, data::make(all_models), kind) { check_truncation(kind); }
BOOST_DATA_TEST_CASE(half_handshakes_hold_nobody_up, data::make(all_models), kind) { check_half_handshakes(kind); }
BOOST_DATA_TEST_CASE(nothing_begins_for_those_that_left, data::make(all_models), kind) { check_those_that_leave(kind); }
BOOST_DATA_TEST_CASE(refused_clients_get_no_plain_words, data::make(all_models), kind) { check_refusals(kind); }
BOOST_DATA_TEST_CASE(a_drain_waits_for_no_handshake, data::make(all_models), kind) { check_drain(kind); }
BOOST_DATA_TEST_CASE(a_reload_fails_no_connection, data::make(all_models), kind) { check_reloads(kind); }
BOOST_DATA_TEST_CASE(plain_and_secret_in_one_server, data::make(all_models), kind) { check_plain_beside(kind); }

BOOST_AUTO_TEST_CASE(options_of_tls_are_validated) {
  const auto refuses = [](listen_options o) {
    o.tls = any_tls();
    try {
      validate(o);
      return false;
    } catch (const config_error&) {
      return true;
    }
  };
  BOOST_TEST(!refuses({"127.0.0.1:0"}));
  BOOST_TEST(!refuses({"127.0.0.1:0", {.tls_begins = tls_beginning::if_detected}}));
  BOOST_TEST(refuses({"127.0.0.1:0", {.tls_begins = tls_beginning::on_request}}));
  BOOST_CHECK_THROW(validate(listen_options("127.0.0.1:0", {.tls_begins = tls_beginning::if_detected})), config_error);
  BOOST_CHECK_THROW(tls_context({.certificates = {{"c", "k"}}, .needs_protocol = true}), config_error);
  BOOST_TEST(refuses({"unix:@tls"}));
  BOOST_TEST(refuses({"unix:@tls", {.upgrade = connection_upgrade::shared_memory}}));
  BOOST_TEST(refuses({"127.0.0.1:0", {.handshakes = {.timeout = 0s}}}));
  BOOST_TEST(refuses({"127.0.0.1:0", {.handshakes = {.at_once = 0}}}));
}

}  // namespace quintet::test
