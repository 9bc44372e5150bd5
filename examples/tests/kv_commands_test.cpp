// SPDX-License-Identifier: BSL-1.0
// kv_commands_test: replies of kv byte for byte, and clients that speak HTTP. Simulated.
// ctest: LIBS quintet::testing
#include "../../net/tests/support/world.hpp"

#include "kv/session.hpp"

#include <string>
#include <vector>

namespace {

using quintet::testing::world;

struct kv_world : kv::store, quintet::log_hook, world<kv::session> {
  explicit kv_world(quintet::log_hook log = {})
      : quintet::log_hook(std::move(log)),
        world(1, {0, false}, kv::session(static_cast<kv::store&>(*this), {}, static_cast<quintet::log_hook*>(this))) {}
  std::string ask(quintet::bytes text) {
    const int c = connect();
    return converse(c, text);
  }
};

void check(quintet::bytes requests, const std::string& replies) {
  kv_world kv;
  BOOST_TEST(kv.ask(requests) == replies);
}

BOOST_AUTO_TEST_CASE(options_of_set) {
  check("SET k v NX\r\nSET k w nx\r\nSET k w XX\r\nGET k\r\nSET n v XX\r\n", "+OK\r\n$-1\r\n+OK\r\n$1\r\nw\r\n$-1\r\n");
  check("SET k v EX 10 NX\r\nSET k v PX 10000\r\nINFO keyspace\r\n",
        "+OK\r\n+OK\r\n$44\r\n# Keyspace\r\ndb0:keys=1,expires=1,avg_ttl=0\r\n\r\n");
  for (const char* wrong : {"EX", "NX XX", "EX 1 PX 1", "more", "EX 10 more"})
    check("SET k v " + std::string(wrong) + "\r\nDBSIZE\r\n", "-ERR syntax error\r\n:0\r\n");
  for (const char* wrong : {"EX 0", "EX -1", "PX 0", "EX 9223372036854775807"})
    check("SET k v " + std::string(wrong) + "\r\nDBSIZE\r\n", "-ERR invalid expire time in 'set' command\r\n:0\r\n");
  check("SET k v EX ten\r\n", "-ERR value is not an integer or out of range\r\n");
  check("SET k v GET\r\n", "-ERR of the options of SET, kv has only EX, PX, NX and XX\r\n");
}

BOOST_AUTO_TEST_CASE(commands_for_keys) {
  check("INCRBY n 5\r\nINCRBY n -7\r\nINCRBY n x\r\n", ":5\r\n:-2\r\n-ERR value is not an integer or out of range\r\n");
  check("SET a 1\r\nSET b 2\r\nDBSIZE\r\nFLUSHALL ASYNC\r\nDBSIZE\r\nFLUSHALL now\r\n",
        "+OK\r\n+OK\r\n:2\r\n+OK\r\n:0\r\n-ERR syntax error\r\n");
}

BOOST_AUTO_TEST_CASE(names_of_commands_are_taken_whole_and_in_any_case) {
  check("sEt k v\r\nGeT k\r\nExIsTs k\r\nFLUSHall\r\ncommand COUNT\r\nINFO none\r\n",
        "+OK\r\n$1\r\nv\r\n:1\r\n+OK\r\n:17\r\n$0\r\n\r\n");
  for (const std::string name : {"GE", "GETS", "xget", "xflushall", "flushallx", "g%t", "\7et", "GET\1"})
    check(name + " k\r\n", "-ERR unknown command '" + name + "', with args beginning with: 'k' \r\n");
  check("*1\r\n$0\r\n\r\n", "-ERR unknown command '', with args beginning with: \r\n");
}

const std::string hello_2 =
                      "*14\r\n$6\r\nserver\r\n$10\r\nquintet-kv\r\n$7\r\nversion\r\n$5\r\n0.1.0\r\n$5\r\nproto\r\n:"
                      "2\r\n$2\r\nid\r\n:",
                  hello_end =
                      "\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n";

BOOST_AUTO_TEST_CASE(clients_introduce_themselves) {
  kv_world kv;
  const int c = kv.connect();
  std::string said = kv.converse(c, "HELLO\r\n");
  BOOST_TEST(said.starts_with(hello_2));
  BOOST_TEST(said.ends_with(hello_end));
  BOOST_TEST(
      kv.converse(c, "HELLO 4\r\nHELLO 3 AUTH a b\r\nHELLO two\r\nHELLO 3 SETNAME\r\nGET none\r\n") ==
      "-NOPROTO unsupported protocol version\r\n-ERR kv has no passwords; connect without a user and a password\r\n"
      "-ERR Protocol version is not an integer or out of range\r\n-ERR Syntax error in HELLO option "
      "'SETNAME'\r\n$-1\r\n");
  said = kv.converse(c, "HELLO 3 SETNAME me\r\n");
  BOOST_TEST(said.starts_with("%7\r\n$6\r\nserver\r\n"));
  BOOST_TEST(said.find("$5\r\nproto\r\n:3\r\n") != said.npos);
  BOOST_TEST(kv.converse(c, "GET none\r\nCLIENT GETNAME\r\nCONFIG GET appendonly\r\n") ==
             "_\r\n$2\r\nme\r\n%1\r\n$10\r\nappendonly\r\n$2\r\nno\r\n");
  BOOST_TEST(kv.converse(c, "HELLO 2\r\n").starts_with(hello_2));
  BOOST_TEST(kv.converse(c, "GET none\r\n") == "$-1\r\n");
}

BOOST_AUTO_TEST_CASE(what_clients_ask_beside) {
  check("CLIENT SETNAME a\r\nCLIENT GETNAME\r\nCLIENT SETINFO LIB-NAME x\r\nSELECT 0\r\nSELECT 1\r\nSELECT x\r\n",
        "+OK\r\n$1\r\na\r\n+OK\r\n+OK\r\n-ERR DB index is out of range\r\n-ERR value is not an integer or out of "
        "range\r\n");
  check("CLIENT GETNAME\r\nCLIENT SETNAME \"a b\"\r\n",
        "$-1\r\n-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
  check("CLIENT SETNAME " + std::string(129, 'n') + "\r\nCLIENT GETNAME\r\n",
        "-ERR Client names cannot have more than 128 bytes.\r\n$-1\r\n");
  check("CLIENT KILL x\r\n", "-ERR unknown subcommand 'KILL'; kv has only CLIENT ID, GETNAME, SETNAME and SETINFO\r\n");
  check("CONFIG GET save databases\r\nCONFIG GET none\r\n",
        "*4\r\n$4\r\nsave\r\n$0\r\n\r\n$9\r\ndatabases\r\n$1\r\n1\r\n*0\r\n");
  check("COMMAND COUNT\r\nCOMMAND\r\nCOMMAND DOCS get\r\n", ":17\r\n*0\r\n*0\r\n");
  kv_world kv;
  const std::string one = kv.ask("CLIENT ID\r\nCLIENT ID\r\n"), other = kv.ask("CLIENT ID\r\n");
  BOOST_TEST(one == other.substr(0, 1) + one.substr(1, one.size() / 2 - 1) + one.substr(0, one.size() / 2));
  BOOST_TEST(one.substr(0, other.size()) != other);
}

const std::vector<std::string> attacks{
    "POST / HTTP/1.1\r\nHost: localhost:6380\r\nContent-Length: 17\r\n\r\nSET pwned yes\r\n\r\n",
    "POST / HTTP/1.0\r\n\r\nSET pwned yes\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n\r\nSET pwned yes\r\n",
    "PUT /a b HTTP/1.1\r\nConnection: close\r\nhost: a\r\n\r\nSET pwned yes\r\n",
    "PATCH / HTTP/1.1\r\nX: SET pwned yes\r\n\r\n*3\r\n$3\r\nSET\r\n$5\r\npwned\r\n$3\r\nyes\r\n",
    "*1\r\n$4\r\nPOST\r\nSET pwned yes\r\n",
};

// Sends the text in two pieces, cut at each place, and byte by byte.
BOOST_AUTO_TEST_CASE(nothing_of_a_request_of_http_is_carried_out) {
  std::vector<std::string> log;
  for (const std::string& text : attacks) {
    for (std::size_t cut = 1; cut <= text.size(); ++cut) {
      kv_world kv([&log](const quintet::log_event& e) { log.push_back(to_string(e)); });
      const int c = kv.connect();
      kv.send(c, text.substr(0, cut));
      if (cut < text.size())
        kv.send(c, text.substr(cut));
      else
        for (const char each : text) kv.send(c, {&each, 1});
      BOOST_TEST_CONTEXT(text << " cut at " << cut) {
        BOOST_TEST_REQUIRE(kv.received(c).find("+OK") == std::string::npos);
        BOOST_TEST_REQUIRE(kv.ended(c));
        BOOST_TEST_REQUIRE(!kv.get("pwned"));
      }
    }
  }
  BOOST_TEST_REQUIRE(log.size() == 1U);  // a minute
  BOOST_TEST(log[0].find("closed a client that speaks HTTP") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(requests_before_it_are_answered) {
  kv_world kv;
  BOOST_TEST(kv.ask("PING\r\nSET k HTTP/1.1\r\nPOST / HTTP/1.1\r\nPING\r\n") == "+PONG\r\n+OK\r\n");
}

}  // namespace
