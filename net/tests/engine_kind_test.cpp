// SPDX-License-Identifier: BSL-1.0
// engine_kind_test: names, what `automatic` is, and what cannot be had.
#include <quintet/net/engine/make_engine.hpp>
#include <quintet/net/options/server_options.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace quintet {
namespace {

/// What QUINTET_ENGINE is while this lives.
class environment {
 public:
  explicit environment(const char* value) {
    if (const char* before = std::getenv("QUINTET_ENGINE")) before_ = before;
    value ? ::setenv("QUINTET_ENGINE", value, 1) : ::unsetenv("QUINTET_ENGINE");
  }
  ~environment() { before_.empty() ? ::unsetenv("QUINTET_ENGINE") : ::setenv("QUINTET_ENGINE", before_.c_str(), 1); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  std::string before_;
};

bool says(const config_error& e, std::string_view text) { return std::string_view(e.what()).find(text) != text.npos; }

bool is_built(engine_kind kind) { return std::ranges::count(built_engines(), kind) > 0; }

}  // namespace

BOOST_AUTO_TEST_CASE(names_lead_back_to_the_kinds) {
  for (const engine_kind kind : enumerators<engine_kind>)
    BOOST_TEST((from_string<engine_kind>(to_string(kind)) == kind));
  for (const char* text : {"", "EPOLL", "select", "epoll ", "0"})
    BOOST_TEST(!from_string<engine_kind>(text).has_value());
}

BOOST_AUTO_TEST_CASE(automatic_is_epoll_unless_the_environment_says_otherwise) {
  {
    const environment nothing(nullptr);
    BOOST_TEST(make_default_engine()->capabilities().name == "epoll");
  }
  const environment asio("asio");
  BOOST_TEST(make_default_engine()->capabilities().name == "asio");
  BOOST_TEST(make_engine(engine_kind::epoll)->capabilities().name == "epoll");
  const environment empty("");
  BOOST_TEST(make_default_engine()->capabilities().name == "epoll");
}

BOOST_AUTO_TEST_CASE(what_the_environment_names_must_exist) {
  const environment wrong("kqueue");
  BOOST_CHECK_EXCEPTION(validate(engine_kind::automatic), config_error, [](const config_error& e) {
    return says(e, "QUINTET_ENGINE=kqueue") && says(e, "automatic, epoll, asio, uring");
  });
  BOOST_CHECK_THROW((void)make_default_engine(), config_error);
  validate(engine_kind::epoll);
}

BOOST_AUTO_TEST_CASE(an_engine_that_is_not_built_in_is_refused_with_the_way_to_build_it) {
  for (const engine_kind kind : {engine_kind::automatic, engine_kind::epoll, engine_kind::asio})
    BOOST_TEST(is_built(kind));
  if (is_built(engine_kind::uring)) return validate(server_options{.engine = engine_kind::uring});
  BOOST_CHECK_EXCEPTION(
      validate(server_options{.engine = engine_kind::uring}), config_error,
      [](const config_error& e) { return says(e, "-DQUINTET_ENGINE_URING=ON") && says(e, "automatic, epoll, asio"); });
}

}  // namespace quintet
