// SPDX-License-Identifier: BSL-1.0
// openssl: owners of OpenSSL's objects, and its errors as ours.
#pragma once

#include "../../../base/error.hpp"

#include <memory>
#include <string>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace quintet::tls {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};
using ssl_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;
using context_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;

using octets_ptr = std::unique_ptr<ASN1_OCTET_STRING, freed_by<ASN1_OCTET_STRING_free>>;
using names_ptr = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;

/// Returns the subject alternative names; null: there are none.
[[nodiscard]] names_ptr names_in(const X509& certificate) noexcept;
[[nodiscard]] std::string_view view_of(const ASN1_STRING* text) noexcept;

/// OpenSSL's list of errors belongs to the thread. It is empty before and after each of our calls.
class empty_errors {
 public:
  empty_errors() noexcept { clear(); }
  empty_errors(const empty_errors&) = delete;
  empty_errors& operator=(const empty_errors&) = delete;
  ~empty_errors() { clear(); }

 private:
  // It is empty nearly always. Clearing it costs ten times as many instructions as looking.
  static void clear() noexcept {
    if (ERR_peek_error() != 0) ERR_clear_error();
  }
};

/// Returns why a call on `ssl` has failed with SSL_ERROR_SSL or SSL_ERROR_SYSCALL. `otherwise`: for errors that have no
/// name of their own.
[[nodiscard]] error_code reason_of_failure(const SSL& ssl, errc otherwise) noexcept;
/// Returns OpenSSL's oldest error as a text, without secrets.
[[nodiscard]] std::string text_of_error();

}  // namespace quintet::tls
