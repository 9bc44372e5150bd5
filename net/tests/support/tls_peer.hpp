// SPDX-License-Identifier: BSL-1.0
// tls_peer: the client's side of TLS, in memory. Link OpenSSL::SSL.
#pragma once

#include "certificates.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace quintet::testing {

/// Trusts every server. `version`: TLS1_2_VERSION or another one; 0: any.
class tls_peer {
 public:
  explicit tls_peer(int version = 0) : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_security_level(context_.get(), 0);  // as a client of long ago
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_.get());
  }
  void ask_for_server(const std::string& name) { SSL_set_tlsext_host_name(ssl_.get(), name.c_str()); }
  void ask_for_protocol(const std::string& name) {
    const std::string one = static_cast<char>(name.size()) + name;
    SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(one.data()),
                        static_cast<unsigned>(one.size()));
  }
  void show(const certificate& c) {
    if (SSL_use_certificate(ssl_.get(), c.x509()) != 1 || SSL_use_PrivateKey(ssl_.get(), c.key()) != 1)
      throw std::runtime_error("the client's certificate");
  }
  /// Goes on with the handshake. Returns whether it is complete.
  bool connect() {
    if (SSL_do_handshake(ssl_.get()) != 1) return false;
    if (!says_when_connected.empty()) write(std::exchange(says_when_connected, {}));
    return true;
  }
  std::string says_when_connected;

  /// Returns what has to be sent.
  std::string take_records() {
    BIO* const from = SSL_get_wbio(ssl_.get());
    std::string records(BIO_ctrl_pending(from), '\0');
    if (!records.empty()) BIO_read(from, records.data(), static_cast<int>(records.size()));
    return records;
  }
  void receive_records(std::string_view records) {
    if (!records.empty()) BIO_write(SSL_get_rbio(ssl_.get()), records.data(), static_cast<int>(records.size()));
  }
  std::string encrypted(std::string_view text) {
    write(text);
    return take_records();
  }
  std::string decrypted(std::string_view records) {
    receive_records(records);
    std::string plain(records.size() + 1, '\0');
    std::size_t size = 0;
    for (int more = 1; more > 0; size += static_cast<std::size_t>(std::max(more, 0)))
      more = SSL_read(ssl_.get(), plain.data() + size, static_cast<int>(plain.size() - size));
    plain.resize(size);
    return plain;
  }
  /// A record that asks for a key update of the other side.
  std::string key_update() {
    SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED);
    SSL_do_handshake(ssl_.get());
    return take_records();
  }
  std::string finished() {
    SSL_shutdown(ssl_.get());
    return take_records();
  }
  [[nodiscard]] bool has_ended() const { return SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN; }
  /// Returns the name in the server's certificate.
  [[nodiscard]] std::string server_subject() const {
    const std::unique_ptr<X509, freed_by<X509_free>> shown(SSL_get1_peer_certificate(ssl_.get()));
    char name[256] = {};
    if (shown) X509_NAME_get_text_by_NID(X509_get_subject_name(shown.get()), NID_commonName, name, sizeof name);
    return name;
  }

 private:
  void write(std::string_view text) {
    for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(text.size(), 16'384)))
      if (SSL_write(ssl_.get(), text.data(), static_cast<int>(std::min<std::size_t>(text.size(), 16'384))) <= 0)
        throw std::runtime_error("SSL_write");
  }

  std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, freed_by<SSL_free>> ssl_;
};

}  // namespace quintet::testing
