// SPDX-License-Identifier: BSL-1.0
// tls_clients_test: clients that speak TLS, in all models: which servers they trust, what they show, how attempts fail.
// ctest: EACH_ENGINE OPTIONAL_LIBS quintet::tls OpenSSL::SSL
#include "../../net/tests/support/certificates.hpp"
#include "../../net/tests/support/needs.hpp"
#include "../../net/tests/support/sockets.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/connection.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/net/tls.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;
using testing::certificate;
using testing::certificate_files;
using testing::certificate_wish;

/// What the clients have met.
struct met {
  std::mutex mutex;
  std::map<std::string, int> facts;  // of servers, as clients know them, and of clients, as the server knows them
  std::map<std::string, int> failures;
  std::atomic<int> answers{0}, failed{0};

  void note(const std::string& fact) {
    const std::lock_guard lock(mutex);
    ++facts[fact];
  }
  int count(const std::string& fact) {
    const std::lock_guard lock(mutex);
    return facts[fact];
  }
  int failures_for(errc why) {
    const std::lock_guard lock(mutex);
    return failures[make_error_code(why).message()];
  }
};

std::string name_of(const tls_info* info) {
  if (!info) return "plain";
  return info->certificate ? info->certificate->subject : "nobody";
}

/// A server that answers each line by who has sent it.
struct answering {
  met* seen;
  void operator()(connection& c, bytes in) const {
    const tls_info* const info = tls_info_of(c);
    seen->note("asked for " + (info ? info->server_name : "nothing"));
    if (in.ends_with('\n')) c.write(name_of(info) + "\n");
  }
};

/// The client's side: who it is, by the server's answer, and whom it has asked.
void note_answer(met& seen, bytes line, const tls_info* info) {
  const bool is_verified = info && info->certificate && info->certificate->is_verified;
  seen.note("I am " + std::string(line) + "server is " + name_of(info) + (is_verified ? ", verified" : ""));
  ++seen.answers;
}

struct asking {
  met* seen;
  std::string got = {};
  void on_open(connection& c) {
    got.clear();
    c.write("who am I?\n");
  }
  void operator()(connection& c, bytes in) {
    if ((got += in).ends_with('\n')) note_answer(*seen, got, tls_info_of(c));
  }
};
struct asking_coroutine {
  met* seen;
  awaitable<> operator()(stream& s) const {
    s.write("who am I?\n");
    const auto line = co_await s.read_until("\n");
    if (!line) co_return;
    note_answer(*seen, *line, tls_info_of(s));
    while (co_await s.read()) {
    }
  }
};

struct fixture {
  fixture() { testing::write_file(folder.file("ca.pem"), ca.pem()); }

  /// A server whose certificate is as wished, from the CA that clients trust or from itself.
  config serving(const certificate_wish& wish, bool is_own_issuer = false, tls_options o = {}) {
    const certificate_files files(folder.file("server"), certificate(wish, is_own_issuer ? nullptr : &ca));
    o.certificates = {{files.chain, files.key}};
    if (o.clients != tls_client_certificates::none) o.client_ca_file = folder.file("ca.pem");
    return {.listen = {{"127.0.0.1:0", {.tls = std::make_shared<tls_context>(o)}}}, .threads = {.loops = 2}};
  }
  client_config asking_by(model kind, tls_client_options o = {}) {
    if (o.ca_file.empty()) o.ca_file = folder.file("ca.pem");
    client_config c{.model = kind, .threads = {.loops = 2, .workers = {1, 2}}};
    c.connecting.tls = std::make_shared<tls_client_context>(o);
    c.on_connect_failed = [this](const connect_failure& f) {
      const std::lock_guard lock(seen.mutex);
      ++seen.failures[f.reason.message()];
      ++seen.failed;
    };
    return c;
  }

  testing::scratch_directory folder;
  certificate ca{{.name = "ca", .is_ca = true}};
  met seen;
};

const certificate_wish here{.name = "here", .alternatives = "DNS:*.quintet.example,DNS:localhost,IP:127.0.0.1"};

template <class F>
void with_handler(combination under, met& seen, F f) {
  if (under.is_coroutine())
    f(asking_coroutine{&seen});
  else
    f(asking{&seen});
}

/// One attempt of a client at a server. Returns the only reason of its failure, or nothing.
std::optional<std::string> outcome(fixture& f, const config& c, const tls_client_options& o) {
  running<server> srv(c, answering{&f.seen});
  client from(f.asking_by(model::single_reactor, o), asking{&f.seen});
  from.run_in_background();
  from.connect("127.0.0.1:" + std::to_string(srv->port()));
  BOOST_TEST(eventually([&] { return f.seen.answers + f.seen.failed == 1; }));
  const std::lock_guard lock(f.seen.mutex);
  return f.seen.failures.empty() ? std::nullopt : std::optional(f.seen.failures.begin()->first);
}
std::string text(errc why) { return make_error_code(why).message(); }

void check_names(combination under) {
  fixture f;
  config c = f.serving(here);
  c.model = under.kind;
  running<server> srv(c, answering{&f.seen});
  with_handler(under, f.seen, [&](auto handler) {
    client from(f.asking_by(under.kind), handler);
    from.connect("127.0.0.1:" + std::to_string(srv->port()));  // before it runs
    from.run_in_background();
    from.connect(testing::loopback_name() + ":" + std::to_string(srv->port()));
    BOOST_TEST(eventually([&] { return f.seen.answers == 2; }));
    BOOST_TEST(from.connections().size() == 2U);
  });
  BOOST_TEST(f.seen.count("I am nobody\nserver is CN=here, verified") == 2);
  const bool has_name = testing::loopback_name() == "localhost";
  BOOST_TEST(f.seen.count("asked for ") == (has_name ? 1 : 2));  // an address is not sent
  BOOST_TEST(f.seen.count("asked for localhost") == (has_name ? 1 : 0));
  BOOST_TEST(f.seen.failed == 0);
}

void check_reconnecting(model kind) {
  fixture f;
  running<server> srv(f.serving(here), answering{&f.seen});
  client_config c = f.asking_by(kind);
  c.reconnect = {.base = 1ms, .cap = 2ms};
  client from(c, asking{&f.seen});
  from.run_in_background();
  from.connect("127.0.0.1:" + std::to_string(srv->port()));
  for (int times = 1; times <= 5; ++times) {
    BOOST_TEST(eventually([&] { return f.seen.answers == times; }));
    for (const connection_id id : srv->connections().all()) (void)srv->connections().close(id);
  }
  BOOST_TEST(eventually([&] { return srv->statistics().handshakes.done == 6U; }));
}

void check_leaving(model kind) {
  fixture f;
  running<server> srv(config{.listen = {"127.0.0.1:0"}}, [](connection&, bytes) {});
  {
    client from(f.asking_by(kind), asking{&f.seen});
    from.run_in_background();
    for (int i = 0; i < 3; ++i) from.connect("127.0.0.1:" + std::to_string(srv->port()));
    BOOST_TEST(eventually([&] { return srv->statistics().bytes_received > 0U; }));
  }
  BOOST_TEST(eventually([&] { return srv->connections().size() == 0U; }));
  BOOST_TEST(f.seen.answers == 0);
}

}  // namespace

BOOST_DATA_TEST_CASE(a_server_is_known_by_name_and_by_address, data::make(all_combinations), under) {
  check_names(under);
}

BOOST_DATA_TEST_CASE(a_link_makes_a_handshake_each_time, data::make(all_models), kind) { check_reconnecting(kind); }

BOOST_AUTO_TEST_CASE(many_links_at_once_are_all_served) {
  fixture f;
  config c = f.serving(here);
  c.accepting.max_connections = 200;
  running<server> srv(c, answering{&f.seen});
  client from(f.asking_by(model::loop_per_thread), asking{&f.seen});
  for (int i = 0; i < 100; ++i) from.connect("127.0.0.1:" + std::to_string(srv->port()));
  from.run_in_background();
  BOOST_TEST(eventually([&] { return f.seen.answers == 100; }));
  BOOST_TEST(f.seen.failed == 0);
}

BOOST_AUTO_TEST_CASE(a_server_of_another_name_is_refused) {
  for (const char* names : {"DNS:there.example", "IP:127.0.0.2", ""}) {
    fixture f;
    const config c = f.serving({.name = "127.0.0.1", .alternatives = names});
    BOOST_TEST(outcome(f, c, {}).value_or("") == text(errc::tls_name_mismatch));
  }
}

BOOST_AUTO_TEST_CASE(the_name_to_expect_can_be_set) {
  for (const char* name : {"a.quintet.example", "A.QUINTET.EXAMPLE.", "localhost"}) {
    fixture f;
    BOOST_TEST(!outcome(f, f.serving(here), {.server_name = name}));
  }
  for (const char* name : {"a.b.quintet.example", "quintet.example", "a.quintet.examples"}) {
    fixture f;
    BOOST_TEST(outcome(f, f.serving(here), {.server_name = name}).value_or("") == text(errc::tls_name_mismatch));
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_nobody_vouches_for_is_refused) {
  fixture f;
  BOOST_TEST(outcome(f, f.serving(here, true), {}).value_or("") == text(errc::tls_certificate_refused));
  fixture late;
  certificate_wish expired = here;
  expired.to = -60;
  BOOST_TEST(outcome(late, late.serving(expired), {}).value_or("") == text(errc::tls_certificate_expired));
}

BOOST_AUTO_TEST_CASE(less_can_be_demanded) {
  fixture any_name;
  BOOST_TEST(!outcome(any_name, any_name.serving({.name = "there"}), {.verification = tls_verification::issuer}));
  fixture stranger;
  BOOST_TEST(outcome(stranger, stranger.serving(here, true), {.verification = tls_verification::issuer}).value_or("") ==
             text(errc::tls_certificate_refused));
  fixture anybody;
  BOOST_TEST(!outcome(anybody, anybody.serving(here, true), {.verification = tls_verification::none}));
  BOOST_TEST(anybody.seen.count("I am nobody\nserver is CN=here") == 1);  // not verified
}

BOOST_AUTO_TEST_CASE(a_client_shows_its_certificate) {
  fixture f;
  const certificate_files alice(f.folder.file("alice"), certificate({.name = "alice"}, &f.ca));
  const config c = f.serving(here, false, {.clients = tls_client_certificates::required});
  BOOST_TEST(!outcome(f, c, {.certificate = tls_certificate{alice.chain, alice.key}}));
  BOOST_TEST(f.seen.count("I am CN=alice\nserver is CN=here, verified") == 1);
}

BOOST_AUTO_TEST_CASE(protocols_must_have_one_in_common) {
  fixture f;
  BOOST_TEST(!outcome(f, f.serving(here, false, {.protocols = {"a", "b"}}), {.protocols = {"c", "b"}}));
  fixture none;
  const config c = none.serving(here, false, {.protocols = {"a"}});
  BOOST_TEST(outcome(none, c, {.protocols = {"c"}}).value_or("") == text(errc::tls_alert));
}

BOOST_AUTO_TEST_CASE(a_server_that_speaks_no_tls_is_refused_at_once) {
  for (const char* greeting : {"220 mail.example\r\n", "H", "\x16\x02"}) {
    fixture f;
    struct greets {
      std::string greeting;
      void on_open(connection& c) const { c.write(greeting); }
      void operator()(connection&, bytes) const {}
    };
    running<server> srv(config{.listen = {"127.0.0.1:0"}}, greets{greeting});
    client from(f.asking_by(model::single_reactor), asking{&f.seen});
    from.run_in_background();
    from.connect("127.0.0.1:" + std::to_string(srv->port()));
    BOOST_TEST(eventually([&] { return f.seen.failures_for(errc::not_tls) == 1; }));
    BOOST_TEST(eventually([&] { return srv->connections().size() == 0U; }));
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_says_nothing_has_the_time_of_the_attempt) {
  fixture f;
  running<server> srv(config{.listen = {"127.0.0.1:0"}}, [](connection&, bytes) {});
  client_config c = f.asking_by(model::single_reactor);
  c.connecting.timeout = 50ms;
  client from(c, asking{&f.seen});
  from.run_in_background();
  from.connect("127.0.0.1:" + std::to_string(srv->port()));
  BOOST_TEST(eventually([&] { return f.seen.failures_for(errc::connect_timeout) == 1; }));
  BOOST_TEST(eventually([&] { return srv->connections().size() == 0U; }));
}

BOOST_DATA_TEST_CASE(a_client_can_go_in_the_middle_of_a_handshake, data::make(all_models), kind) {
  check_leaving(kind);
}

BOOST_AUTO_TEST_CASE(unix_sockets_have_no_tls) {
  fixture f;
  const std::string path = "unix:" + f.folder.file("socket");
  running<server> srv(config{.listen = {path}}, [](connection&, bytes) {});
  client from(f.asking_by(model::single_reactor), asking{&f.seen});
  from.run_in_background();
  from.connect(path);
  BOOST_TEST(eventually([&] { return f.seen.failed == 1; }));
  BOOST_TEST(f.seen.failures.begin()->first == make_error_code(boost::system::errc::operation_not_supported).message());
}

BOOST_AUTO_TEST_CASE(wrong_options_are_told) {
  fixture f;
  const auto told = [](auto call) {
    try {
      call();
      return std::string();
    } catch (const config_error& e) {
      return std::string(e.what());
    }
  };
  BOOST_TEST(
      told([] { const tls_client_context c({.ca_file = "/nowhere/ca.pem"}); }).starts_with("tls: /nowhere/ca.pem: "));
  BOOST_TEST(told([] { const tls_client_context c({.protocols = {""}}); }).starts_with("tls: protocols"));
  BOOST_TEST(told([&] {
               const certificate_files a(f.folder.file("a"), certificate()), b(f.folder.file("b"), certificate());
               const tls_client_context c({.certificate = tls_certificate{a.chain, b.key}});
             }).find("mismatch") != std::string::npos);
  const auto with = [&](auto change) {
    client_config c = f.asking_by(model::single_reactor);
    change(c.connecting);
    return told([&] { const client from(c, asking{&f.seen}); });
  };
  BOOST_TEST(with([](connect_options& o) {
               o.upgrade = connection_upgrade::shared_memory;
             }).starts_with("connecting.upgrade"));
  BOOST_TEST(with([](connect_options& o) { o.may_be_server = &is_own_user; }).starts_with("connecting.may_be_server"));
}

}  // namespace quintet::test
