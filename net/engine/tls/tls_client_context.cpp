// SPDX-License-Identifier: BSL-1.0
// tls_client_context: an SSL_CTX for clients, and the server's name in each handshake.
#include "tls_client_context.hpp"

#include "reloadable.hpp"
#include "tls_handshake.hpp"
#include "tls_settings.hpp"

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace quintet {

namespace {

/// What the options name, in an SSL_CTX.
struct client_files {
  explicit client_files(const tls_client_options& o)
      : context(tls::make_context(*TLS_client_method(), o.only_tls_1_3)) {
    const tls::empty_errors around;
    SSL_CTX* const c = context.get();
    if (o.verification != tls_verification::none) {
      SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);
      if (!o.ca_file.empty())
        tls::trust(*c, o.ca_file);
      else if (SSL_CTX_set_default_verify_paths(c) != 1)
        tls::fail_with_error("the system's CAs");
    }
    if (o.certificate) tls::use_certificate(*c, *o.certificate);
    const std::vector<unsigned char> alpn = tls::as_alpn(o.protocols);
    if (SSL_CTX_set_alpn_protos(c, alpn.data(), static_cast<unsigned>(alpn.size())) != 0) throw std::bad_alloc();
  }

  const tls::context_ptr context;
};

}  // namespace

struct tls_client_context::state : tls::reloadable<tls_client_options, client_files> {
  using reloadable::reloadable;
};

tls_client_context::tls_client_context(tls_client_options options)
    : state_(std::make_unique<state>(std::move(options))) {}
tls_client_context::~tls_client_context() = default;

std::optional<std::string> tls_client_context::reload() { return state_->reload(); }
std::uint64_t tls_client_context::reloads() const noexcept { return state_->reloads(); }
std::uint64_t tls_client_context::failed_reloads() const noexcept { return state_->failed_reloads(); }

std::unique_ptr<handshake> tls_client_context::begin(std::string_view server) {
  const tls_client_options& o = state_->options();
  const std::shared_ptr<const client_files> files = state_->in_use();
  auto begun = std::make_unique<tls_handshake>(*files->context, files);
  begun->expect(o.server_name.empty() ? std::string(server) : o.server_name, o.verification == tls_verification::name);
  return begun;
}

}  // namespace quintet
