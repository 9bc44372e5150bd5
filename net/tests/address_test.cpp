// SPDX-License-Identifier: BSL-1.0
// address_test: what is an address, and that text and system form agree.
#include <quintet/net/names/address.hpp>

#include <quintet/base/error.hpp>

#include <boost/test/unit_test.hpp>

#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <string>

using namespace quintet;
using kind = address::kind;

BOOST_AUTO_TEST_CASE(text_survives_the_way_there_and_back) {
  for (const std::string text :
       {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[::]:0", "[fe80::1%lo]:7",
        "[2001:db8::7]:443", "[fe80::1%4000000000]:7", "unix:/run/kv.sock", "unix:@kv", "unix:/with space", "unix:@@"})
    BOOST_TEST(address(text).to_string() == text);
}

BOOST_AUTO_TEST_CASE(the_system_form_gives_the_same_value) {
  for (const char* text : {"127.0.0.1:80", "[::1]:80", "unix:/run/kv.sock", "unix:@kv"}) {
    const address parsed(text), again(parsed.data(), parsed.size());
    BOOST_TEST((again == parsed));
    BOOST_TEST((again.type() == parsed.type()));
    BOOST_TEST(again.to_string() == text);
  }
  BOOST_TEST((address("127.0.0.1:80") != address("127.0.0.1:81")));
  BOOST_TEST((address("unix:@kv") != address("unix:@kv2")));
}

BOOST_AUTO_TEST_CASE(parts) {
  const address v4("10.1.2.3:80"), v6("[::1]:443"), path("unix:/run/x"), name("unix:@x"), none;
  BOOST_TEST(v4.host() == "10.1.2.3");
  BOOST_TEST(v4.port() == 80);
  BOOST_TEST(v6.host() == "::1");
  BOOST_TEST(v6.port() == 443);
  BOOST_TEST(path.path() == "/run/x");
  BOOST_TEST(name.path() == "x");
  BOOST_TEST(path.port() == 0);
  BOOST_TEST((path.is_unix() && name.is_unix() && !v4.is_unix() && v6.is_ip() && !path.is_ip()));
  BOOST_TEST((none.type() == kind::none));
  BOOST_TEST(none.to_string().empty());
  BOOST_TEST(join_address("::", 1) == "[::]:1");
  BOOST_TEST(join_address("0.0.0.0", 1) == "0.0.0.0:1");
}

BOOST_AUTO_TEST_CASE(every_other_text_is_refused_with_what_is_allowed) {
  const std::string too_long = "unix:/" + std::string(200, 'x');
  for (const std::string& text : {std::string(),
                                  std::string(":"),
                                  std::string("80"),
                                  std::string(":80"),
                                  std::string("localhost:80"),
                                  std::string("127.0.0.1"),
                                  std::string("127.0.0.1:"),
                                  std::string("127.0.0.1:65536"),
                                  std::string("127.0.0.1:-1"),
                                  std::string("127.0.0.1:+1"),
                                  std::string("127.0.0.1: 1"),
                                  std::string("127.0.0.1:080"),
                                  std::string("127.1:80"),
                                  std::string("127.0.0.01:80"),
                                  std::string(" 127.0.0.1:80"),
                                  std::string("127.0.0.1:80 "),
                                  std::string("::1:80"),
                                  std::string("[::1]"),
                                  std::string("[::1]:"),
                                  std::string("[::1]80"),
                                  std::string("[127.0.0.1]:80"),
                                  std::string("[::1%nowhere]:80"),
                                  std::string("[::1%]:80"),
                                  std::string("[::1%01]:80"),
                                  std::string("[::1%-1]:80"),
                                  std::string("[::1%1x]:80"),
                                  std::string("[::1%4294967296]:80"),
                                  std::string("[]:80"),
                                  std::string("[::1:80"),
                                  std::string("unix:"),
                                  std::string("unix:/"),
                                  std::string("unix:@"),
                                  std::string("unix:relative"),
                                  std::string("UNIX:/x"),
                                  std::string("tcp:127.0.0.1:80"),
                                  too_long}) {
    BOOST_TEST_CONTEXT("'" << text << "'")
    BOOST_CHECK_EXCEPTION(static_cast<void>(address(text)), config_error, [&](const config_error& e) {
      const std::string says = e.what();
      return says.find(text) != says.npos && says.find("127.0.0.1:80") != says.npos &&
             says.find("[::1]:80") != says.npos && says.find("unix:@name") != says.npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(a_zero_byte_does_not_cut_the_message) {
  BOOST_CHECK_EXCEPTION(static_cast<void>(address(std::string_view("unix:/a\0b", 9))), config_error, [](const auto& e) {
    return std::string(e.what()).find("unix:/a?b") != std::string::npos &&
           std::string(e.what()).find("unix:@name") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(zones_are_names_or_numbers) {
  BOOST_TEST((address("[fe80::1%1]:7") == address("[fe80::1%lo]:7")));  // lo is the first interface of each machine
  BOOST_TEST((address("[fe80::1%0]:7") == address("[fe80::1]:7")));     // the default zone
  const address far("[fe80::1%4294967295]:7");
  BOOST_TEST(reinterpret_cast<const sockaddr_in6*>(far.data())->sin6_scope_id == 4294967295U);
}

BOOST_AUTO_TEST_CASE(the_longest_unix_names) {
  const std::string longest(106, 'x');
  BOOST_TEST(address("unix:/" + longest).path().size() == 107u);
  BOOST_TEST(address("unix:@" + longest).path().size() == 106u);
}

BOOST_AUTO_TEST_CASE(a_peer_without_a_name) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  const address peer(reinterpret_cast<const sockaddr*>(&un), offsetof(sockaddr_un, sun_path));
  BOOST_TEST((peer.type() == kind::unix_unnamed));
  BOOST_TEST(peer.to_string() == "unix:");
}

BOOST_AUTO_TEST_CASE(an_ipv4_peer_of_a_dual_stack_listener_is_an_ipv4_address) {
  const address mapped("[::ffff:10.0.0.1]:80");
  const address peer(mapped.data(), mapped.size());
  BOOST_TEST(peer.to_string() == "10.0.0.1:80");
  BOOST_TEST((peer == address("10.0.0.1:80")));
}

BOOST_AUTO_TEST_CASE(networks) {
  const auto network = [](const char* text) { return address(text).network(); };
  BOOST_TEST((network("10.0.0.1:1") == network("10.0.0.1:2")));
  BOOST_TEST((network("10.0.0.1:1") != network("10.0.0.2:1")));
  BOOST_TEST((network("[2001:db8::1]:1") == network("[2001:db8::ffff:1]:1")));
  BOOST_TEST((network("[2001:db8:0:1::1]:1") != network("[2001:db8:0:2::1]:1")));
  BOOST_TEST((network("0.0.0.0:1") != network("[::]:1")));
  BOOST_TEST((network("unix:@x") == std::nullopt));
}
