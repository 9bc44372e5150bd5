// SPDX-License-Identifier: BSL-1.0
// certificates: keys and certificates for tests, made by OpenSSL when they are needed. Link OpenSSL::SSL.
#pragma once

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace quintet::testing {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};
using key_ptr = std::shared_ptr<EVP_PKEY>;
using x509_ptr = std::shared_ptr<X509>;

struct certificate_wish {
  std::string name = "localhost";
  std::string alternatives = {};     ///< "DNS:a.example,IP:127.0.0.1"; empty: none
  long from = -86'400, to = 86'400;  ///< seconds from now
  bool is_ca = false;
};

/// A certificate with its key: ECDSA on P-256.
class certificate {
 public:
  /// `issuer`: nullptr: signs itself.
  explicit certificate(const certificate_wish& wish = {}, const certificate* issuer = nullptr)
      : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), &EVP_PKEY_free), made_(X509_new(), &X509_free) {
    X509* const x = made_.get();
    unsigned char number[8];
    if (RAND_bytes(number, sizeof number) != 1) throw std::runtime_error("RAND_bytes");
    number[0] = static_cast<unsigned char>((number[0] & 0x3F) | 0x40);  // positive, of one length
    const std::unique_ptr<BIGNUM, freed_by<BN_free>> serial(BN_bin2bn(number, sizeof number, nullptr));
    BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(x));
    X509_set_version(x, X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(x), wish.from);
    X509_gmtime_adj(X509_getm_notAfter(x), wish.to);
    X509_set_pubkey(x, key_.get());
    X509_NAME* const name = X509_get_subject_name(x);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(wish.name.c_str()), -1,
                               -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(issuer ? issuer->made_.get() : x));
    if (wish.is_ca) extend(NID_basic_constraints, "critical,CA:TRUE");
    if (!wish.alternatives.empty()) extend(NID_subject_alt_name, wish.alternatives);
    if (X509_sign(x, (issuer ? *issuer : *this).key_.get(), EVP_sha256()) == 0) throw std::runtime_error("X509_sign");
  }
  [[nodiscard]] X509* x509() const noexcept { return made_.get(); }
  [[nodiscard]] EVP_PKEY* key() const noexcept { return key_.get(); }
  [[nodiscard]] std::string pem() const {
    return text_of([this](BIO* to) { return PEM_write_bio_X509(to, made_.get()); });
  }
  [[nodiscard]] std::string key_pem() const {
    return text_of(
        [this](BIO* to) { return PEM_write_bio_PrivateKey(to, key_.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  }

 private:
  void extend(int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    const std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>> e(
        X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
    if (!e || X509_add_ext(made_.get(), e.get(), -1) != 1) throw std::runtime_error("X509_add_ext: " + value);
  }
  template <class Write>
  static std::string text_of(Write write) {
    const std::unique_ptr<BIO, freed_by<BIO_free>> memory(BIO_new(BIO_s_mem()));
    if (write(memory.get()) != 1) throw std::runtime_error("PEM");
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &data);
    return {data, static_cast<std::size_t>(size)};
  }

  key_ptr key_;
  x509_ptr made_;
};

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

/// A certificate and its key in two files, which write() replaces.
struct certificate_files {
  /// `path`: without the endings.
  certificate_files(const std::string& path, const certificate& c) : chain(path + ".pem"), key(path + ".key") {
    write(c);
  }
  void write(const certificate& c) const {
    write_file(chain, c.pem());
    write_file(key, c.key_pem());
  }
  const std::string chain, key;
};

}  // namespace quintet::testing
