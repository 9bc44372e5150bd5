// SPDX-License-Identifier: BSL-1.0
// inherited_listeners_test: the protocol of sd_listen_fds, read from the environment of a process.
#include <quintet/base/error.hpp>
#include <quintet/net/options/listen_options.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

#include <stdlib.h>
#include <unistd.h>

using namespace quintet;

namespace {

void set(const char* name, const char* value) {
  if (value)
    ::setenv(name, value, 1);
  else
    ::unsetenv(name);
}

/// Returns inherited_listeners() with these variables; nullptr: not set.
std::vector<listen_options> inherited(const char* pid, const char* count, const char* names = nullptr) {
  set("LISTEN_PID", pid);
  set("LISTEN_FDS", count);
  set("LISTEN_FDNAMES", names);
  return inherited_listeners();
}

const std::string me = std::to_string(::getpid());

bool is_refused(const char* pid, const char* count, const std::string& variable) {
  try {
    (void)inherited(pid, count);
  } catch (const config_error& e) {
    return std::string(e.what()).find(variable) != std::string::npos;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_for_this_process) {
  BOOST_TEST(inherited(nullptr, nullptr).empty());
  BOOST_TEST(inherited(nullptr, "2").empty());
  BOOST_TEST(inherited("1", "2").empty());  // variables for another process, inherited with the environment
  BOOST_TEST(inherited(me.c_str(), "0").empty());
}

BOOST_AUTO_TEST_CASE(descriptors_from_3_on_and_their_names) {
  const auto all = inherited(me.c_str(), "3", "web:priority:unknown");
  BOOST_REQUIRE(all.size() == 3u);
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(all[static_cast<std::size_t>(i)].descriptor == 3 + i);
    BOOST_TEST(all[static_cast<std::size_t>(i)].priority == (i == 1));
    BOOST_CHECK_NO_THROW(validate(all[static_cast<std::size_t>(i)]));
  }
  BOOST_TEST(inherited(me.c_str(), "2", "priority").at(0).priority);  // fewer names than descriptors
  BOOST_TEST(!inherited(me.c_str(), "2", "priority").at(1).priority);
  BOOST_TEST(inherited(me.c_str(), "2", ":priority").at(1).priority);
  BOOST_TEST(!inherited(me.c_str(), "1", nullptr).at(0).priority);
}

BOOST_AUTO_TEST_CASE(contradictions_are_named) {
  BOOST_TEST(is_refused(me.c_str(), nullptr, "LISTEN_FDS"));
  BOOST_TEST(is_refused(me.c_str(), "two", "LISTEN_FDS is 'two'"));
  BOOST_TEST(is_refused(me.c_str(), "-1", "LISTEN_FDS is '-1'"));
  BOOST_TEST(is_refused(me.c_str(), "", "LISTEN_FDS is ''"));
  BOOST_TEST(is_refused("self", "1", "LISTEN_PID is 'self'"));
}
