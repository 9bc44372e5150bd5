// SPDX-License-Identifier: BSL-1.0
// error: the texts of the library's own error category.
#include "error.hpp"

#include <boost/system/system_error.hpp>

#include <array>
#include <string>
#include <string_view>

namespace quintet {
namespace {

struct text {
  errc value;
  std::string_view says;
};
constexpr auto texts = std::to_array<text>({
    {errc::end_of_stream, "the peer has finished sending"},
    {errc::stopped, "the server, client or event loop was stopped"},
    {errc::handler_threw, "the handler threw an exception"},
    {errc::message_too_big, "a message is longer than the codec allows, or unused input exceeds max_input"},
    {errc::too_many_threads, "all max_threads threads already serve a connection"},
    {errc::no_such_connection, "the connection has closed or never existed"},
    {errc::output_full, "the peer reads too slowly: queued output exceeds high_watermark or max_output"},
    {errc::output_overflow, "queued output would exceed max_output or max_output_total"},
    {errc::first_byte_timeout, "nothing was received within first_byte_timeout"},
    {errc::idle_timeout, "no input or output for idle_timeout"},
    {errc::message_timeout, "a message was not completed within message_timeout"},
    {errc::send_timeout, "the peer took no output for send_timeout"},
    {errc::too_many_from_address, "max_connections_per_address connections from this address are already open"},
    {errc::not_placed, "the thread model failed to choose a loop for the connection"},
    {errc::operation_not_supported, "the loop's engine cannot watch foreign descriptors; use the server's main loop"},
    {errc::no_pidfd, "pidfd_open is missing (Linux 5.3 or later is needed) or not permitted"},
    {errc::incomplete_message, "the peer finished sending in the middle of a message"},
    {errc::malformed_message, "a message violates the format of the codec"},
    {errc::bad_checksum, "a message does not match its checksum"},
    {errc::connect_timeout, "name resolution or connecting took longer than connecting.timeout"},
    {errc::heartbeat_timeout, "nothing was received for heartbeat.evict_after"},
    {errc::input_overflow, "unused input of all connections would exceed max_input_total"},
    {errc::aborted, "connection_registry::abort() ended the connection"},
    {errc::stream_truncated, "the connection ended before the encoded stream did; data may be missing"},
    {errc::request_cancelled, "connection_registry::cancel() cancelled the request"},
    {errc::deadline_passed, "the deadline has passed"},
    {errc::draining, "the server drains"},
    {errc::untrusted_proxy, "the peer is in none of the networks of proxy.trusted"},
    {errc::malformed_proxy_header, "a proxy began with something else than a PROXY header of at most proxy.max_size"},
    {errc::missing_proxy_header, "a proxy sent no complete PROXY header within proxy.timeout"},
    {errc::too_many_connections, "max_connections are already open"},
    {errc::not_tls, "the peer does not speak TLS: it did not begin with a handshake"},
    {errc::tls_version_refused, "the peer speaks no version of TLS that is allowed"},
    {errc::tls_handshake_failed, "the TLS handshake is malformed, or the peer supports none of the ciphers"},
    {errc::tls_handshake_timeout, "the TLS handshake was not completed within handshakes.timeout"},
    {errc::tls_certificate_missing, "the client sent no certificate, and clients must have one"},
    {errc::tls_certificate_expired, "the peer's certificate has expired, or is not valid yet"},
    {errc::tls_certificate_refused, "the peer's certificate was not issued by a CA that is trusted here"},
    {errc::tls_name_mismatch, "the server's certificate does not have the name of the destination"},
    {errc::tls_no_protocol, "the client named none of the server's protocols (ALPN)"},
    {errc::tls_alert, "the peer ended TLS by an alert; it may not trust the certificate"},
    {errc::tls_bad_record, "a TLS record is too long, or does not match its authentication code"},
    {errc::input_before_tls, "plain bytes arrived before TLS began; somebody may have inserted them"},
    {errc::tls_flood, "the peer sent too many TLS records without data"},
});

class category final : public boost::system::error_category {
 public:
  // Compared by this number, not by address: several shared objects of a process may each hold a copy of the library.
  constexpr category() noexcept : error_category(0x7175'696e'7465'7431U) {}

 private:
  const char* name() const noexcept override { return "quintet"; }
  std::string message(int value) const override {
    for (const text& t : texts)
      if (t.value == static_cast<errc>(value)) return std::string(t.says);
    return "unknown error";
  }
};

}  // namespace

const boost::system::error_category& quintet_category() noexcept {
  static const category instance;
  return instance;
}

error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), quintet_category()}; }

void throw_system_error(int value, const std::string& what) {
  throw boost::system::system_error(system_error_code(value), what);
}

}  // namespace quintet
