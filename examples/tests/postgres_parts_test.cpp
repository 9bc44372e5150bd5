// SPDX-License-Identifier: BSL-1.0
// postgres_parts_test: the parts of the PostgreSQL server that know nothing of connections.
#include "postgres/protocol.hpp"
#include "postgres/sql.hpp"
#include "postgres/store.hpp"
#include "postgres/users.hpp"
#ifdef QUINTET_EXAMPLE_SCRAM
#include "postgres/scram.hpp"
#endif

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pwd.h>
#include <unistd.h>

namespace {

using namespace postgres;
using namespace std::string_view_literals;

/// Returns the SQLSTATE and the message of the error that f throws.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const sql_error& e) {
    return std::string(e.sqlstate()) + " " + e.what();
  }
  return "no error";
}
std::string error_in(const std::string& sql) {
  return error_of([&] { (void)parse_sql(sql); });
}

// ---- Protocol -------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(messages_are_written_as_the_protocol_says) {
  message_writer out;
  out.message('Z', 'I');
  out.message('K', std::int32_t{1}, std::int32_t{-2});
  out.message('S', "a", std::string("b"));
  BOOST_TEST(out.data() == "Z\0\0\0\5IK\0\0\0\14\0\0\0\1\377\377\377\376S\0\0\0\10a\0b\0"sv);
  out.clear();
  const std::vector<column> columns{{"k", type::int8}, {"v", type::text}};
  const std::vector<format> formats{format::binary, format::text};
  out.data_row(std::vector<value>{"258", {}}, columns, formats);
  BOOST_TEST(out.data() == "D\0\0\0\26\0\2\0\0\0\10\0\0\0\0\0\0\1\2\377\377\377\377"sv);
}

BOOST_AUTO_TEST_CASE(a_body_that_ends_too_early_is_fatal) {
  message_reader in("\0\1text\0\2"sv);
  BOOST_TEST(in.int16() == 1);
  BOOST_TEST(in.string() == "text");
  BOOST_CHECK_THROW((void)in.int16(), fatal_error);
  BOOST_CHECK_THROW((void)message_reader("no end").string(), fatal_error);
  BOOST_CHECK_THROW((void)message_reader("").byte(), fatal_error);
  BOOST_CHECK_THROW((void)message_reader("1234").take(quintet::as_size(-1)), fatal_error);
}

BOOST_AUTO_TEST_CASE(values_have_two_formats) {
  const std::vector<std::pair<type, std::string>> all{{type::int2, "-32768"},
                                                      {type::int4, "2147483647"},
                                                      {type::int8, "-9223372036854775808"},
                                                      {type::float8, "-2.5"},
                                                      {type::text, "t\"ext"}};
  for (const auto& [of, text] : all) BOOST_TEST(to_text(to_binary(text, of), of) == text);
  BOOST_TEST(to_binary("258", type::int2) == "\1\2"sv);
  BOOST_TEST(*convert("007", type::int4) == "7");
  BOOST_TEST(!convert({}, type::int4));
  BOOST_TEST(error_of([] { (void)to_binary("32768", type::int2); }) == "22003 number out of range: 32768");
  BOOST_TEST(error_of([] { (void)to_binary("7x", type::int8); }) == "22P02 invalid input syntax for a number: \"7x\"");
  BOOST_TEST(error_of([] { (void)to_binary("", type::float8); }) == "22P02 invalid input syntax for a number: \"\"");
  BOOST_TEST(error_of([] { (void)to_text("123", type::int4); }) == "22P03 incorrect binary data format");
  BOOST_TEST(error_of([] { (void)to_text("1234", type(1700)); }).starts_with("0A000 "));
}

// ---- SQL ------------------------------------------------------------------------------------------------------------

statement only(const std::string& sql, const std::vector<type>& given = {}) {
  auto all = parse_sql(sql, given);
  BOOST_REQUIRE_EQUAL(all.size(), 1U);
  return std::move(all.front());
}

BOOST_AUTO_TEST_CASE(values_are_selected_with_types_and_names) {
  const statement s = only("SELECT 1, -5000000000 AS \"Big\", 'it''s' y, 2.5, NULL, '7'::bigint;");
  BOOST_TEST((s.does == action::select_values));
  BOOST_TEST(s.tag == "SELECT ");
  const std::vector<std::pair<std::string, type>> expected{{"?column?", type::int4}, {"Big", type::int8},
                                                           {"y", type::text},        {"?column?", type::float8},
                                                           {"?column?", type::text}, {"?column?", type::int8}};
  BOOST_REQUIRE_EQUAL(s.columns.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    BOOST_TEST(s.columns[i].name == expected[i].first);
    BOOST_TEST((s.columns[i].type == expected[i].second));
  }
  BOOST_TEST(*s.operands[2].literal == "it's");
  BOOST_TEST(*only("select 'a''''b'''").operands[0].literal == "a''b'");
  BOOST_TEST(*only("select .25").operands[0].literal == "0.25");
  BOOST_TEST(!s.operands[4].literal);
}

BOOST_AUTO_TEST_CASE(parameters_get_the_type_of_their_place) {
  const statement s = only("insert INTO kv VALUES ($2, $1)");
  BOOST_TEST((s.parameters == std::vector<type>{type::text, type::int8}));
  BOOST_TEST((only("select $1, $2::int, $1").parameters == std::vector<type>{type::text, type::int4}));
  BOOST_TEST((only("select pg_sleep($1)").parameters == std::vector<type>{type::float8}));
  const statement given = only("select v from kv where k = $1", {type::int2});
  BOOST_TEST((given.parameters == std::vector<type>{type::int2}));
  BOOST_TEST((given.operands[0].as == type::int8));
}

BOOST_AUTO_TEST_CASE(each_statement_has_its_action) {
  const std::vector<std::pair<std::string, action>> all{{"select g from generate_series(1, $1) as g", action::series},
                                                        {"SELECT * FROM generate_series(-1, 3)", action::series},
                                                        {"select sum(g) from generate_series(1, 10) g", action::sum},
                                                        {"select pg_sleep(0.5)", action::sleep},
                                                        {"select * from kv", action::select_all},
                                                        {"select * from kv where k = -3", action::select_row},
                                                        {"update kv set v = 'x' where k = 1", action::update},
                                                        {"begin isolation level serializable", action::begin},
                                                        {"COMMIT transaction", action::commit},
                                                        {"set session statement_timeout to 100", action::set},
                                                        {"show server_version", action::show},
                                                        {"deallocate prepare p", action::deallocate}};
  for (const auto& [sql, does] : all) BOOST_TEST((only(sql).does == does), sql);
  BOOST_TEST(parse_sql(" ;; select 1 ; begin;").size() == 2U);
  BOOST_TEST(parse_sql("").empty());
  BOOST_TEST(only("select g from generate_series(1, 3) g").columns[0].name == "g");
  BOOST_TEST(only("select * from generate_series(1, 3)").columns[0].name == "generate_series");
}

BOOST_AUTO_TEST_CASE(unknown_sql_is_a_syntax_error) {
  BOOST_TEST(error_in("frobnicate") == "42601 syntax error at or near \"frobnicate\"");
  BOOST_TEST(error_in("select v from users") == "42601 syntax error at or near \"users\"");
  BOOST_TEST(error_in("select 1 +") == "42601 syntax error at or near \"+\"");
  BOOST_TEST(error_in("select") == "42601 syntax error at end of input");
  BOOST_TEST(error_in("select -") == "42601 syntax error at end of input");
  BOOST_TEST(error_in("rollback to savepoint a") == "42601 syntax error at or near \"to\"");
  BOOST_TEST(error_in("select 'open") == "42601 unterminated quoted string");
  BOOST_TEST(error_in("select 1::") == "42704 type \"\" does not exist");
  BOOST_TEST(error_in("select 1::json") == "42704 type \"json\" does not exist");
  BOOST_TEST(error_in("select $0") == "42P02 there is no parameter $0");
  BOOST_TEST(error_in("select $99999") == "42P02 there is no parameter $99999");
  BOOST_TEST(error_in("select $") == "42P02 there is no parameter $");
  BOOST_TEST(error_in("select 99999999999999999999").starts_with("22003 "));
  BOOST_TEST(error_in("select 1.2.3").starts_with("22P02 "));
  BOOST_TEST(error_in("select 1e5") == "42601 trailing junk after numeric literal \"1\"");
  BOOST_TEST(error_in("select -$1") == "42601 syntax error at or near \"1\"");
  BOOST_TEST(error_in("select -'5'") == "42601 syntax error at or near \"5\"");
  BOOST_TEST(error_in("select 1 from generate_series(1, 3)") == "42601 syntax error at or near \"generate_series\"");
  BOOST_TEST(error_in("select sum(5) from generate_series(1, 3)") == "42601 syntax error at or near \"5\"");
  std::string wide = "select 1";
  for (int i = 0; i < 1000; ++i) wide += ", 1";
  BOOST_TEST(error_in(wide) == "54011 too many columns");
}

// ---- Store ----------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_store_holds_texts_by_key) {
  store s;
  BOOST_TEST(s.insert(1, "one"));
  BOOST_TEST(s.insert(std::numeric_limits<std::int64_t>::max(), "last"));
  BOOST_TEST(error_of([&] { (void)s.insert(1, "again"); }).starts_with("23505 "));
  BOOST_TEST(s.update(1, "uno"));
  BOOST_TEST(!s.update(2, "dos"));
  BOOST_TEST(*s.find(1) == "uno");
  BOOST_TEST(!s.find(2));
  BOOST_TEST(s.first_from(2)->second == "last");
}

BOOST_AUTO_TEST_CASE(a_store_is_full_at_its_limit) {
  store s(1000);
  std::int64_t rows = 0;
  const std::string full = error_of([&] {
    while (rows < 100) s.insert(rows++, std::string(50, 'x'));
  });
  BOOST_TEST(full == "53100 the table kv is full");
  BOOST_TEST(rows < 20);
  BOOST_TEST(error_of([&] { (void)s.update(0, std::string(1000, 'y')); }) == full);
  BOOST_TEST(*s.find(0) == std::string(50, 'x'));
}

// ---- Users of the system --------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_local_user_has_its_own_name_only) {
  const ::passwd* const daemon = ::getpwnam("daemon");
  BOOST_REQUIRE(daemon != nullptr);
  const quintet::peer_credentials client{.user = daemon->pw_uid};
  BOOST_TEST(is_local_user(client, "daemon"));
  BOOST_TEST(!is_local_user(client, "ann"));
  BOOST_TEST(!is_local_user(client, ""));
  BOOST_TEST(!is_local_user({.user = 4'000'000'000}, "ann"));  // a user without a name
  BOOST_TEST(is_local_user({.user = ::geteuid()}, "ann"));
  BOOST_TEST(is_local_user({.user = 0}, "ann"));
}

// ---- SCRAM ----------------------------------------------------------------------------------------------------------

#ifdef QUINTET_EXAMPLE_SCRAM

constexpr auto client_first = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO"sv;
constexpr auto client_final =
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="sv;

scram_exchange example_of_the_rfc(std::string_view password = "pencil") {
  const std::string salt = "\x5b\x6d\x99\x68\x9d\x12\x35\x8e\xec\xa0\x4b\x14\x12\x36\xfa\x81";
  return {make_scram_secret(password, salt), "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"};
}

BOOST_AUTO_TEST_CASE(an_exchange_is_that_of_rfc_7677) {
  scram_exchange e = example_of_the_rfc();
  BOOST_TEST(e.begin(client_first) ==
             "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
  BOOST_TEST(e.finish(client_final) == "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

BOOST_AUTO_TEST_CASE(who_does_not_know_the_password_is_not_let_in) {
  scram_exchange other = example_of_the_rfc("Pencil");
  (void)other.begin(client_first);
  BOOST_TEST(other.finish(client_final).empty());
  scram_exchange e = example_of_the_rfc();
  (void)e.begin(client_first);
  std::string wrong(client_final);
  wrong[2] = 'e';  // another gs2-header
  BOOST_TEST(e.finish(wrong).empty());
  wrong = client_final;
  wrong.insert(wrong.find(",p="), "x");  // another nonce
  BOOST_TEST(e.finish(wrong).empty());
  for (const auto* proof : {"", "AAAA", "====", "no base64", "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ"})
    BOOST_TEST(e.finish(std::string(client_final.substr(0, client_final.find("p=") + 2)) + proof).empty());
  scram_exchange stranger(make_stand_in("nobody"), make_nonce());
  (void)stranger.begin(client_first);
  BOOST_TEST(stranger.finish(client_final).empty());
  BOOST_TEST(make_stand_in("nobody").salt == make_stand_in("nobody").salt);
}

// The proof depends on the binding, so the example of the RFC cannot have one: only what is refused is seen.
BOOST_AUTO_TEST_CASE(a_login_is_bound_to_its_tls_connection) {
  const auto bound = [](std::string_view first, channel_binding binding) {
    scram_exchange e(make_stand_in("ann"), "nonce", std::move(binding));
    return e.begin(first).starts_with("r=x");
  };
  const channel_binding none, offered{.can_bind = true}, chosen{.can_bind = true, .data = "hash"};
  BOOST_TEST(bound("p=tls-server-end-point,,n=u,r=x", chosen));
  BOOST_TEST(bound("n,,n=u,r=x", offered));
  BOOST_TEST(bound("y,,n=u,r=x", none));
  BOOST_CHECK_THROW(bound("y,,n=u,r=x", offered), fatal_error);  // somebody has hidden the offer
  for (const auto* other : {"n,,n=u,r=x", "p=tls-unique,,n=u,r=x", "p=tls-server-end-point,a=b,n=u,r=x"})
    BOOST_CHECK_THROW(bound(other, chosen), fatal_error);
  BOOST_CHECK_THROW(bound("p=tls-server-end-point,,n=u,r=x", offered), fatal_error);
}

BOOST_AUTO_TEST_CASE(what_is_no_message_of_scram_is_fatal) {
  for (const auto text : {""sv, "n"sv, "p=tls-unique,,n=u,r=x"sv, "n,a=other,n=u,r=x"sv, "n,,r=x"sv, "n,,n=u"sv})
    BOOST_CHECK_THROW((void)example_of_the_rfc().begin(text), fatal_error);
  for (const auto text : {""sv, "c"sv, "c=biws"sv, "c=biws,r=x"sv, "r=x,c=biws"sv, ",,,"sv})
    BOOST_CHECK_THROW((void)example_of_the_rfc().finish(text), fatal_error);
}

#endif

}  // namespace
