// SPDX-License-Identifier: BSL-1.0
// openssl: maps OpenSSL's reasons to errc.
#include "openssl.hpp"

#include <array>

#include <openssl/sslerr.h>
#include <openssl/tls1.h>
#include <openssl/x509_vfy.h>

namespace quintet::tls {
namespace {

errc reason_of_certificate(const SSL& ssl) noexcept {
  switch (SSL_get_verify_result(&ssl)) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return errc::tls_certificate_expired;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return errc::tls_name_mismatch;
    default:
      return errc::tls_certificate_refused;
  }
}

}  // namespace

names_ptr names_in(const X509& certificate) noexcept {
  return names_ptr(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
}

std::string_view view_of(const ASN1_STRING* text) noexcept {
  const auto* const data = reinterpret_cast<const char*>(ASN1_STRING_get0_data(text));
  return {data, static_cast<std::size_t>(ASN1_STRING_length(text))};
}

error_code reason_of_failure(const SSL& ssl, errc otherwise) noexcept {
  const unsigned long error = ERR_peek_last_error();  // earlier ones are of what it has called
  if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE) return make_error_code(boost::system::errc::not_enough_memory);
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) return otherwise;
  const int reason = ERR_GET_REASON(error);
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
      return errc::tls_version_refused;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return errc::tls_certificate_missing;
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return reason_of_certificate(ssl);
    case SSL_R_NO_APPLICATION_PROTOCOL:
    case SSL_R_CALLBACK_FAILED:  // the only one is that which demands a protocol
      return errc::tls_no_protocol;
    default:
      return reason > SSL_AD_REASON_OFFSET ? errc::tls_alert : otherwise;
  }
}

std::string text_of_error() {
  const unsigned long error = ERR_peek_error();
  if (error == 0) return "unknown error";
  std::array<char, 256> text{};
  ERR_error_string_n(error, text.data(), text.size());
  return text.data();
}

}  // namespace quintet::tls
