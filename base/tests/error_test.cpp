// SPDX-License-Identifier: BSL-1.0
// error_test: every reason has its own text, and compares like other error codes.
#include <quintet/base/error.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <set>
#include <string>

namespace quintet {
namespace {

constexpr std::array all_reasons{errc::end_of_stream,
                                 errc::stopped,
                                 errc::handler_threw,
                                 errc::message_too_big,
                                 errc::too_many_threads,
                                 errc::not_placed,
                                 errc::operation_not_supported,
                                 errc::no_pidfd,
                                 errc::too_many_from_address,
                                 errc::output_full,
                                 errc::output_overflow,
                                 errc::no_such_connection,
                                 errc::first_byte_timeout,
                                 errc::idle_timeout,
                                 errc::message_timeout,
                                 errc::send_timeout,
                                 errc::connect_timeout,
                                 errc::incomplete_message,
                                 errc::malformed_message,
                                 errc::bad_checksum,
                                 errc::heartbeat_timeout,
                                 errc::input_overflow,
                                 errc::aborted,
                                 errc::stream_truncated,
                                 errc::untrusted_proxy,
                                 errc::malformed_proxy_header,
                                 errc::missing_proxy_header,
                                 errc::request_cancelled,
                                 errc::deadline_passed,
                                 errc::draining,
                                 errc::too_many_connections,
                                 errc::not_tls,
                                 errc::tls_version_refused,
                                 errc::tls_handshake_failed,
                                 errc::tls_handshake_timeout,
                                 errc::tls_certificate_missing,
                                 errc::tls_certificate_expired,
                                 errc::tls_certificate_refused,
                                 errc::tls_name_mismatch,
                                 errc::tls_no_protocol,
                                 errc::tls_alert,
                                 errc::tls_bad_record,
                                 errc::input_before_tls,
                                 errc::tls_flood};

BOOST_AUTO_TEST_CASE(each_reason_has_its_own_text) {
  std::set<std::string> texts;
  for (const errc e : all_reasons) {
    const error_code ec = e;  // implicit, as everywhere in the library
    BOOST_TEST(ec.message() != "unknown error");
    texts.insert(ec.message());
  }
  BOOST_TEST(texts.size() == all_reasons.size());
  BOOST_TEST(error_code(errc::message_too_big).message() ==
             "a message is longer than the codec allows, or unused input exceeds max_input");
  // The number after the last reason is unknown: a new reason must be added to all_reasons.
  const error_code none(static_cast<int>(all_reasons.size()) + 1, quintet_category());
  BOOST_TEST(none.message() == "unknown error");
}

BOOST_AUTO_TEST_CASE(every_reason_is_a_failure) {
  for (const errc e : all_reasons) BOOST_TEST(error_code(e).failed());
  BOOST_TEST(!error_code().failed());
}

BOOST_AUTO_TEST_CASE(the_category_tells_them_from_the_systems) {
  const error_code ours = errc::end_of_stream;
  const error_code theirs(ours.value(), boost::system::system_category());
  BOOST_TEST(std::string(ours.category().name()) == "quintet");
  BOOST_TEST((ours != theirs));
  BOOST_TEST((ours == errc::end_of_stream));
  BOOST_TEST((ours != errc::stopped));
  BOOST_TEST((&quintet_category() == &quintet_category()));
}

BOOST_AUTO_TEST_CASE(a_config_error_says_what_it_was_told) {
  try {
    throw config_error("loops is 0; it must be at least 1");
  } catch (const std::invalid_argument& e) {
    BOOST_TEST(std::string(e.what()) == "loops is 0; it must be at least 1");
  }
}

}  // namespace
}  // namespace quintet
