// SPDX-License-Identifier: BSL-1.0
// error: the reasons why connections end, and the exception for a bad configuration.
#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>  // thrown by servers, loops and engines

#include <stdexcept>
#include <string>
#include <type_traits>

namespace quintet {

/// Why something has failed; without an error it is false.
using error_code = boost::system::error_code;

/// Reasons of this library. Errors of the system, such as a reset, keep the system's category.
enum class errc {
  end_of_stream = 1,        ///< the peer has finished sending, and everything it sent has been answered
  stopped,                  ///< the server, or the loop that the connection lived on, was stopped
  handler_threw,            ///< the handler left with an exception
  message_too_big,          ///< longer than the codec's `max_size`, or more unused input than `max_input`
  too_many_threads,         ///< `max_threads` connections have a thread already
  too_many_from_address,    ///< `max_connections_per_address` are open from there already
  not_placed,               ///< the threading model threw when it was asked for a loop
  no_such_connection,       ///< the id's connection has closed, or never existed
  output_full,              ///< the peer does not read: more output waits than `high_watermark`
  output_overflow,          ///< more output would wait than `max_output`, or in all connections than `max_output_total`
  first_byte_timeout,       ///< nothing was received within `first_byte_timeout`
  idle_timeout,             ///< nothing happened for `idle_timeout`
  message_timeout,          ///< a message was not completed within `message_timeout` at `min_receive_rate`
  send_timeout,             ///< the peer has taken none of the output that waits for `send_timeout`
  operation_not_supported,  ///< the loop's engine cannot watch descriptors of others
  no_pidfd,                 ///< the system has no pidfd_open, or does not let this process call it
  connect_timeout,          ///< name resolution or connecting took longer than `connecting.timeout`
  incomplete_message,       ///< the peer has finished sending within a message
  malformed_message,        ///< received data is no message, or a message to be sent would not arrive as one
  bad_checksum,             ///< a message does not match its checksum
  heartbeat_timeout,        ///< nothing was received for `heartbeat.evict_after`, and no handler was running
  input_overflow,           ///< more unused input would be kept in all connections than `max_input_total`
  aborted,                  ///< connection_registry::abort() ended it
  stream_truncated,         ///< the connection ended without the end that its encoding demands
  request_cancelled,        ///< connection_registry::cancel() cancelled the request
  deadline_passed,          ///< the time of stream::with_deadline() has passed, or of a read with a deadline
  draining,                 ///< the server drains, and connection::cancel_on() makes that cancel
  untrusted_proxy,          ///< the peer is none of the proxies that its listener trusts
  malformed_proxy_header,   ///< what a proxy sent first is no PROXY header, or one longer than `proxy.max_size`
  missing_proxy_header,     ///< a proxy has not sent a whole PROXY header within `proxy.timeout`, or before it closed
  too_many_connections,     ///< `max_connections` are open already, with `refuse_when_full`
  not_tls,                  ///< the peer has not begun with a TLS handshake, but with plain text or anything else
  tls_version_refused,    ///< the peer speaks only versions before TLS 1.2, or `only_tls_1_3` is set and it lacks that
  tls_handshake_failed,   ///< the peer has sent a broken handshake, or both sides have no cipher in common
  tls_handshake_timeout,  ///< a handshake was not complete within `handshakes.timeout`
  tls_certificate_missing,  ///< the client has sent no certificate, and it must have one
  tls_certificate_expired,  ///< the peer's certificate is not in force: expired, or not valid yet
  tls_certificate_refused,  ///< the peer's certificate leads to no CA that is trusted, or is broken
  tls_name_mismatch,        ///< the server's certificate is for other names than the destination's
  tls_no_protocol,          ///< none of the protocols that the client has named (ALPN) is served
  tls_alert,                ///< the peer has sent an alert: it refuses, for example, the server's certificate
  tls_bad_record,           ///< a record is too long, or was changed on the way
  input_before_tls,         ///< start_tls() found plain bytes that the peer had sent before it could expect TLS
  tls_flood,                ///< the peer sends key updates, empty records or tickets, and hardly any data
};

/// The category of errc; its error_codes are made from their enumerators.
const boost::system::error_category& quintet_category() noexcept;
[[nodiscard]] error_code make_error_code(errc e) noexcept;

/// [any thread] Returns the error_code of an errno.
[[nodiscard]] inline error_code system_error_code(int value) noexcept {
  return {value, boost::system::system_category()};
}
/// Throws boost::system::system_error with the failed operation (`what`) and its errno (`value`).
[[noreturn]] void throw_system_error(int value, const std::string& what);

/// An invalid value in the configuration: the message names it and says what is allowed.
class config_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace quintet

template <>
struct boost::system::is_error_code_enum<quintet::errc> : std::true_type {};
