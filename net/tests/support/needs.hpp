// SPDX-License-Identifier: BSL-1.0
// needs: preconditions of test cases that not every machine meets: IPv6, the name localhost.
#pragma once

#include "sockets.hpp"

#include <boost/test/tree/test_unit.hpp>
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <string>

#include <netdb.h>

namespace quintet::testing {

inline bool has_ipv6() {
  static const bool has = [] {
    const address at("[::1]:0");
    const file_descriptor fd = socket_for(at);
    return fd && ::bind(fd.get(), at.data(), at.size()) == 0;
  }();
  return has;
}

inline bool has_localhost() {
  static const bool has = [] {
    addrinfo hints{};
    hints.ai_family = AF_INET;
    addrinfo* found = nullptr;
    if (::getaddrinfo("localhost", nullptr, &hints, &found) != 0) return false;
    ::freeaddrinfo(found);
    return true;
  }();
  return has;
}

/// Prints a line to the standard output, where scripts/test looks for it.
inline boost::test_tools::assertion_result skipped_unless(bool has, boost::unit_test::test_unit_id id,
                                                          const std::string& missing) {
  if (has) return true;
  const std::string name = boost::unit_test::framework::get(id, boost::unit_test::TUT_ANY).full_name();
  std::cout << "skipped: " << name.substr(0, name.find("/_")) << ": " << missing
            << std::endl;  // without the index of a data set
  boost::test_tools::assertion_result no(false);
  no.message() << missing;
  return no;
}

/// Usage: BOOST_TEST_DECORATOR(*boost::unit_test::precondition(needs_ipv6))
inline boost::test_tools::assertion_result needs_ipv6(boost::unit_test::test_unit_id id) {
  return skipped_unless(has_ipv6(), id, "::1 cannot be bound; enable IPv6 (sysctl net.ipv6.conf.lo.disable_ipv6=0)");
}
inline boost::test_tools::assertion_result needs_localhost(boost::unit_test::test_unit_id id) {
  return skipped_unless(has_localhost(), id,
                        "the name localhost is unknown; write \"127.0.0.1 localhost\" to /etc/hosts");
}

/// Returns a second loopback address, of either family. All of 127.0.0.0/8 belongs to the loopback interface.
inline const char* another_loopback() { return has_ipv6() ? "[::1]:0" : "127.0.0.2:0"; }

/// Returns a name of the loopback interface, or its address if the name is unknown.
inline const std::string& loopback_name() {
  static const std::string name = [] {
    if (has_localhost()) return "localhost";
    std::cout << "skipped: the look-up of localhost: the name is unknown; write \"127.0.0.1 localhost\" to /etc/hosts"
              << std::endl;
    return "127.0.0.1";
  }();
  return name;
}

}  // namespace quintet::testing
