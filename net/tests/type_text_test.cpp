// SPDX-License-Identifier: BSL-1.0
// type_text_test: types by name and as keys, without RTTI.
#include <quintet/net/watch/backtrace.hpp>
#include <quintet/net/watch/type_text.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace quintet;
using detail::type_key;
using detail::type_text;

namespace {
struct hidden {};
}  // namespace

namespace names {
template <class... T>
struct of_types {};
struct plain {};
}  // namespace names

BOOST_AUTO_TEST_CASE(a_type_has_its_name) {
  BOOST_TEST(readable_type(type_text<names::plain>()) == "names::plain");
  BOOST_TEST(readable_type(type_text<int>()) == "int");
  BOOST_TEST(readable_type(type_text<void (*)(int, char)>()) == "void (*)(int, char)");
  const std::string nested = readable_type(type_text<names::of_types<int[3], names::of_types<char>>>());
  BOOST_TEST(nested.starts_with("names::of_types<int"));
  BOOST_TEST(nested.find("names::of_types<char>") != std::string::npos);
  const auto lambda = [](std::string) {};
  BOOST_TEST(readable_type(type_text<decltype(lambda)>()).find("lambda") != std::string::npos);
}
BOOST_AUTO_TEST_CASE(what_is_no_such_text_stays_and_long_names_are_cut) {
  BOOST_TEST(readable_type("scripted") == "scripted");
  BOOST_TEST(readable_type(("f() [with T = " + std::string(1000, 'x') + "]").c_str()).size() == 240U);
  BOOST_TEST(readable_type("f() [with T = a<b; c>; d = e]") == "a<b; c>");
}
BOOST_AUTO_TEST_CASE(keys_are_equal_for_one_type) {
  struct local {};
  BOOST_TEST((type_key::of<names::plain>() == type_key::of<names::plain>()));
  BOOST_TEST((type_key::of<names::plain>() != type_key::of<names::of_types<>>()));
  BOOST_TEST((type_key::of<hidden>() == type_key::of<hidden>()));
  BOOST_TEST((type_key::of<hidden>() != type_key::of<local>()));
}
