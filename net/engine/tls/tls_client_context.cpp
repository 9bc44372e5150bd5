// SPDX-License-Identifier: BSL-1.0
// tls_client_context: an SSL_CTX for clients, and the server's name in each handshake.
#include "tls_client_context.hpp"

#include "tls_handshake.hpp"
#include "tls_settings.hpp"

#include <new>
#include <utility>

namespace quintet {

struct tls_client_context::state {
  explicit state(tls_client_options o)
      : options(std::move(o)), context(tls::make_context(*TLS_client_method(), options.only_tls_1_3)) {
    const tls::empty_errors around;
    SSL_CTX* const c = context.get();
    if (options.verification != tls_verification::none) {
      SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);
      if (!options.ca_file.empty())
        tls::trust(*c, options.ca_file);
      else if (SSL_CTX_set_default_verify_paths(c) != 1)
        tls::fail_with_error("the system's CAs");
    }
    if (options.certificate) tls::use_certificate(*c, *options.certificate);
    const std::vector<unsigned char> alpn = tls::as_alpn(options.protocols);
    if (SSL_CTX_set_alpn_protos(c, alpn.data(), static_cast<unsigned>(alpn.size())) != 0) throw std::bad_alloc();
  }

  const tls_client_options options;
  const tls::context_ptr context;
};

tls_client_context::tls_client_context(tls_client_options options)
    : state_(std::make_shared<const state>(std::move(options))) {}
tls_client_context::~tls_client_context() = default;

std::unique_ptr<handshake> tls_client_context::begin(std::string_view server) {
  const tls_client_options& o = state_->options;
  auto begun = std::make_unique<tls_handshake>(*state_->context, state_);
  begun->expect(o.server_name.empty() ? std::string(server) : o.server_name, o.verification == tls_verification::name);
  return begun;
}

}  // namespace quintet
