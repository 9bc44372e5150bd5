// SPDX-License-Identifier: BSL-1.0
// tls_settings: sets up an SSL_CTX, and reads files.
#include "tls_settings.hpp"

#include <new>

namespace quintet::tls {
namespace {

[[noreturn]] void fail(const std::string& file, const std::string& why) {
  throw config_error("tls: " + file + ": " + why);
}

int no_password(char*, int, int, void*) noexcept { return 0; }  // OpenSSL would ask at the terminal

}  // namespace

context_ptr make_context(const SSL_METHOD& method, bool only_tls_1_3) {
  context_ptr made(SSL_CTX_new(&method));
  if (!made) throw std::bad_alloc();
  SSL_CTX* const c = made.get();
  SSL_CTX_set_min_proto_version(c, only_tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(c, "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_options(c, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(c, 0);  // one SSL_read would work off hundreds of key updates
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_default_passwd_cb(c, &no_password);
  return made;
}

void use_certificate(SSL_CTX& context, const tls_certificate& files) {
  if (SSL_CTX_use_certificate_chain_file(&context, files.chain_file.c_str()) != 1) fail_with_error(files.chain_file);
  if (SSL_CTX_use_PrivateKey_file(&context, files.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    fail_with_error(files.key_file);
  if (SSL_CTX_check_private_key(&context) != 1) fail(files.key_file, "the key does not match " + files.chain_file);
}

void trust(SSL_CTX& context, const std::string& ca_file) {
  if (SSL_CTX_load_verify_locations(&context, ca_file.c_str(), nullptr) != 1) fail_with_error(ca_file);
}

std::vector<unsigned char> as_alpn(const std::vector<std::string>& protocols) {
  std::vector<unsigned char> all;
  for (const std::string& name : protocols) {
    if (name.empty() || name.size() > 255)
      throw config_error("tls: protocols has a name of " + std::to_string(name.size()) + " bytes; from 1 to 255");
    all.push_back(static_cast<unsigned char>(name.size()));
    all.insert(all.end(), name.begin(), name.end());
  }
  return all;
}

void fail_with_error(const std::string& file) { fail(file, text_of_error()); }

}  // namespace quintet::tls
