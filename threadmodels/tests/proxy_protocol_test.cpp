// SPDX-License-Identifier: BSL-1.0
// proxy_protocol_test: listeners behind proxies, in all models: who the peer is, and who is refused.
// ctest: EACH_ENGINE
#include "../../net/tests/support/sockets.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/base/framing/proxy_protocol.hpp>
#include <quintet/net/connection.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

const std::string line = "PROXY TCP4 203.0.113.9 198.51.100.1 5000 443\r\n";
const std::string block =
    make_proxy_header(proxy_version::v2, {{203, 0, 113, 9}, 4, 5000}, {{198, 51, 100, 1}, 4, 443});
const std::string local_block("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16);

/// What on_refused and on_close have been told.
struct told {
  std::mutex mutex;
  std::map<std::string, int> refused;
  std::vector<std::string> closed;
  int count(const std::string& what) {
    const std::lock_guard lock(mutex);
    return refused[what];
  }
};

/// Tells both ends as the factory and the connection know them, then echoes.
struct mirror {
  told* seen;
  connection_ends made_for;
  void on_open(connection& c) const {
    c.write(made_for.peer.to_string() + " " + c.peer_address() + " " + local_address(c) + "\n");
  }
  void operator()(connection& c, bytes in) const { c.write(in); }
  void on_close(connection& c, error_code) const {
    const std::lock_guard lock(seen->mutex);
    seen->closed.push_back(c.peer_address());
  }
};
struct mirror_coroutine {
  connection_ends made_for;
  awaitable<> operator()(stream& s) const {
    s.write(made_for.peer.to_string() + " " + s.peer_address() + " " + local_address(s) + "\n");
    while (const auto in = co_await s.read()) s.write(*in);
  }
};

config behind_proxies(model kind, told& seen, proxy_options proxy = {.trusted = {"127.0.0.0/8"}}) {
  config c{.listen = {{"127.0.0.1:0", {.proxy = std::move(proxy)}}}, .model = kind, .threads = {.loops = 2}};
  c.accepting.on_refused = [&seen](error_code why, const address& from) {
    const std::lock_guard lock(seen.mutex);
    ++seen.refused[why.message() + " from " + from.host()];
    return std::string();
  };
  return c;
}

std::string refusal(errc why, const std::string& from = "127.0.0.1") {
  return make_error_code(why).message() + " from " + from;
}

const std::string clients_ends = "203.0.113.9:5000 203.0.113.9:5000 198.51.100.1:443";

/// A header with what follows it, in pieces of all lengths.
template <class Server>
void check_ends(Server& srv) {
  for (const std::string& header : {line, block}) {
    for (std::size_t cut = 0; cut <= header.size(); cut += 7) {
      client c(srv->port());
      c.send(header.substr(0, cut));
      c.send(header.substr(cut) + "request");
      BOOST_TEST(c.receive_line() == clients_ends);
      BOOST_TEST(c.receive(7) == "request");
    }
  }
  for (const std::string& header : {std::string("PROXY UNKNOWN\r\n"), local_block}) {  // such as a health check
    const file_descriptor fd = testing::connected_to(srv->addresses()[0]);
    client c = client::over(::dup(fd.get()));
    c.send(header);
    const std::string ends = c.receive_line();
    BOOST_TEST(ends.starts_with("127.0.0.1:"));
    BOOST_TEST(ends.ends_with(" " + srv->addresses()[0].to_string()));
  }
}

void check_refusals(model kind) {
  told seen;
  running<server> srv(behind_proxies(kind, seen, {.trusted = {"127.0.0.1/32"}, .timeout = 200ms, .max_size = 232}),
                      handler_factory([&](const connection_ends& ends) { return mirror{&seen, ends}; }));
  std::string longer = block + std::string("\x04\0\xD0", 3) + std::string(0xD0, 'x');
  longer[15] = static_cast<char>(longer.size() - 16);
  BOOST_TEST(longer.size() > 232U);
  for (const std::string& bad : {std::string("GET / HTTP/1.1\r\n"), line.substr(0, 20) + "\r\n", longer}) {
    client c(srv->port());
    c.send(bad);
    BOOST_TEST(c.receive_rest().empty());
  }
  BOOST_TEST(seen.count(refusal(errc::malformed_proxy_header)) == 3);
  client late(srv->port());
  late.send(line.substr(0, 30));
  BOOST_TEST(late.receive_rest().empty());
  client leaves(srv->port());
  leaves.send(line.substr(0, 30));
  leaves.finish_sending();
  BOOST_TEST(leaves.receive_rest().empty());
  BOOST_TEST(seen.count(refusal(errc::missing_proxy_header)) == 2);
  BOOST_TEST(srv->statistics().refused == 5U);
  BOOST_TEST(srv->statistics().opened == 0U);
}

void check_untrusted(model kind) {
  told seen;
  running<server> srv(behind_proxies(kind, seen, {.trusted = {"10.0.0.0/8", "::1", "unix:"}}),
                      handler_factory([&](const connection_ends& ends) { return mirror{&seen, ends}; }));
  client c(srv->port());
  c.send(line);
  BOOST_TEST(c.receive_rest().empty());
  BOOST_TEST(seen.count(refusal(errc::untrusted_proxy)) == 1);
}

// The client counts, and not its proxy.
void check_limit(model kind) {
  told seen;
  config conf = behind_proxies(kind, seen);
  conf.accepting.max_connections_per_address = 2;
  running<server> srv(conf, handler_factory([&](const connection_ends& ends) { return mirror{&seen, ends}; }));
  std::vector<client> clients;
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back(srv->port());
    clients.back().send("PROXY TCP4 203.0.113." + std::to_string(i / 2) + " 198.51.100.1 5000 443\r\n");
    BOOST_TEST(clients.back().receive_line().starts_with("203.0.113."));
  }
  client surplus(srv->port());
  surplus.send("PROXY TCP4 203.0.113.0 198.51.100.1 5000 443\r\n");
  BOOST_TEST(surplus.receive_rest().empty());
  BOOST_TEST(seen.count(refusal(errc::too_many_from_address, "203.0.113.0")) == 1);
  clients.clear();
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 6; }));
  const std::lock_guard lock(seen.mutex);
  BOOST_TEST(std::ranges::count(seen.closed, "203.0.113.2:5000") == 2);
}

// Connections that wait for a header hold places, and give them back.
void check_places(model kind) {
  told seen;
  config conf = behind_proxies(kind, seen);
  conf.accepting.max_connections = 2;
  running<server> srv(conf, handler_factory([&](const connection_ends& ends) { return mirror{&seen, ends}; }));
  client first(srv->port()), second(srv->port()), third(srv->port());
  third.send(line);
  first.reset();
  BOOST_TEST(third.receive_line() == clients_ends);
  second.send(line);
  BOOST_TEST(second.receive_line() == clients_ends);
}

// Whoever has sent a header is served; the others are closed.
void check_drain(model kind) {
  told seen;
  running<server> srv(behind_proxies(kind, seen),
                      handler_factory([&](const connection_ends& ends) { return mirror{&seen, ends}; }));
  client silent(srv->port()), open(srv->port());
  open.send(line + "request");
  BOOST_TEST(open.receive_line() == clients_ends);
  srv->drain(patience);
  BOOST_TEST(open.receive_rest() == "request");
  BOOST_TEST(silent.receive_rest().empty());
  srv.join();
}

// Also over a Unix socket, whose peers have no address of their own.
void check_unix(model kind) {
  told seen;
  const std::string at = fresh_unix_address();
  config conf = behind_proxies(kind, seen);
  conf.listen = {{at, {.proxy = {.trusted = {"unix:"}}}}};
  running<server> srv(conf, handler_factory([&](const connection_ends& ends) { return mirror{&seen, ends}; }));
  client c = client::over(connected_to(at).release());
  c.send(block);
  BOOST_TEST(c.receive_line() == clients_ends);
  client local = client::over(connected_to(at).release());
  local.send(local_block);
  BOOST_TEST(local.receive_line() == "unix: unix: " + at);
}

void check_names(combination c) {
  told seen;
  if (c.is_coroutine()) {
    running<server> srv(behind_proxies(c.kind, seen),
                        handler_factory([](const connection_ends& ends) { return mirror_coroutine{ends}; }));
    return check_ends(srv);
  }
  running<server> srv(behind_proxies(c.kind, seen),
                      handler_factory([&](const connection_ends& ends) { return mirror{&seen, ends}; }));
  check_ends(srv);
}

}  // namespace

BOOST_DATA_TEST_CASE(the_header_names_both_ends, data::make(all_combinations), c) { check_names(c); }
BOOST_DATA_TEST_CASE(bad_headers_are_refused, data::make(all_models), kind) { check_refusals(kind); }
BOOST_DATA_TEST_CASE(others_than_proxies_are_refused, data::make(all_models), kind) { check_untrusted(kind); }
BOOST_DATA_TEST_CASE(limits_count_clients, data::make(all_models), kind) { check_limit(kind); }
BOOST_DATA_TEST_CASE(incomplete_headers_hold_places, data::make(all_models), kind) { check_places(kind); }
BOOST_DATA_TEST_CASE(a_drain_waits_for_no_header, data::make(all_models), kind) { check_drain(kind); }
BOOST_DATA_TEST_CASE(proxies_on_unix_sockets, data::make(all_models), kind) { check_unix(kind); }

BOOST_AUTO_TEST_CASE(options_of_proxies_are_validated) {
  const auto refuses = [](proxy_options p, connection_upgrade upgrade = connection_upgrade::none) {
    BOOST_CHECK_THROW(validate(listen_options("unix:@x", {.proxy = std::move(p), .upgrade = upgrade})), config_error);
  };
  for (const char* network :
       {"", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0:80", "host", "::1/129"})
    refuses({.trusted = {network}});
  refuses({.trusted = {"unix:"}, .timeout = 0s});
  refuses({.trusted = {"unix:"}, .max_size = 231});
  refuses({.trusted = {"unix:"}, .max_size = 65537});
  refuses({.trusted = {"unix:"}}, connection_upgrade::shared_memory);
  validate(listen_options("unix:@x", {.proxy = {.trusted = {"10.0.0.0/8", "0.0.0.0/0", "fd00::/8", "::1", "unix:"}}}));
}

}  // namespace quintet::test
