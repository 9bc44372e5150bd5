// SPDX-License-Identifier: BSL-1.0
// tls_chains: sets up one SSL_CTX for each certificate.
#include "tls_chains.hpp"

#include "tls_settings.hpp"

#include <algorithm>
#include <limits>
#include <new>

namespace quintet::tls {
namespace {

std::string in_lower_case(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::vector<std::string> server_names_of(const X509& certificate) {
  const names_ptr all = names_in(certificate);
  std::vector<std::string> names;
  for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const GENERAL_NAME& name = *sk_GENERAL_NAME_value(all.get(), i);
    if (name.type == GEN_DNS) names.emplace_back(view_of(name.d.dNSName));
  }
  return names;
}

/// Returns a context with the settings that all share.
context_ptr make_context(const tls_options& o) {
  context_ptr made = tls::make_context(*TLS_server_method(), o.only_tls_1_3);
  SSL_CTX* const c = made.get();
  SSL_CTX_set_options(
      c, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA | (o.tickets == 0 ? SSL_OP_NO_TICKET : 0));
  SSL_CTX_set_num_tickets(c, o.tickets);
  SSL_CTX_set_max_early_data(c, 0);
  return made;
}

}  // namespace

tls_chains::tls_chains(const tls_options& options) : protocols_(as_alpn(options.protocols)) {
  const empty_errors around;
  for (const tls_certificate& files : options.certificates) add(options, files);
}

void tls_chains::add(const tls_options& options, const tls_certificate& files) {
  SSL_CTX* const c = contexts_.emplace_back(make_context(options)).get();
  use_certificate(*c, files);
  ask_clients(*c, options);
  SSL_CTX_set_tlsext_servername_callback(c, &tls_chains::choose_chain);
  SSL_CTX_set_tlsext_servername_arg(c, this);
  if (options.needs_protocol) SSL_CTX_set_client_hello_cb(c, &tls_chains::require_protocol, nullptr);
  if (!protocols_.empty()) SSL_CTX_set_alpn_select_cb(c, &tls_chains::choose_protocol, this);
  const std::vector<std::string> found = server_names_of(*SSL_CTX_get0_certificate(c));
  for (const std::string& name : files.server_names.empty() ? found : files.server_names)
    by_name_.emplace_back(in_lower_case(name), c);
}

// The id keeps a session of one server from being resumed at another one that asks for other certificates.
void tls_chains::ask_clients(SSL_CTX& context, const tls_options& options) const {
  if (options.clients == tls_client_certificates::none) return;
  const std::string& file = options.client_ca_file;
  STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(file.c_str());
  if (!names) fail_with_error(file);
  SSL_CTX_set_client_CA_list(&context, names);  // owns them
  trust(context, file);
  const bool is_required = options.clients == tls_client_certificates::required;
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | (is_required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
  static constexpr std::string_view id = "quintet";
  SSL_CTX_set_session_id_context(&context, reinterpret_cast<const unsigned char*>(id.data()), id.size());
}

// "*.example.org" stands for one more label.
SSL_CTX* tls_chains::find(std::string_view server_name) const {
  const std::string name = in_lower_case(server_name);
  const std::size_t dot = name.find('.');
  const std::string any = dot == std::string::npos ? std::string() : "*" + name.substr(dot);
  for (const std::string& wanted : {name, any})
    for (const auto& [known, context] : by_name_)
      if (known == wanted) return context;
  return nullptr;
}

int tls_chains::choose_chain(SSL* ssl, int*, void* self) noexcept try {
  const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  SSL_CTX* const found = name ? static_cast<const tls_chains*>(self)->find(name) : nullptr;
  if (!found) return SSL_TLSEXT_ERR_NOACK;
  SSL_set_SSL_CTX(ssl, found);
  return SSL_TLSEXT_ERR_OK;
} catch (const std::bad_alloc&) {
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

int tls_chains::require_protocol(SSL* ssl, int* alert, void*) noexcept {
  const unsigned char* names = nullptr;
  std::size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &names, &size) == 1)
    return SSL_CLIENT_HELLO_SUCCESS;
  *alert = TLS1_AD_NO_APPLICATION_PROTOCOL;
  return SSL_CLIENT_HELLO_ERROR;
}

int tls_chains::choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                                unsigned offered_size, void* self) noexcept {
  const auto& ours = static_cast<const tls_chains*>(self)->protocols_;
  unsigned char* found = nullptr;
  const int result =
      SSL_select_next_proto(&found, size, ours.data(), static_cast<unsigned>(ours.size()), offered, offered_size);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

int tls_chains::days_to_expiry() const noexcept {
  const empty_errors around;
  int least = std::numeric_limits<int>::max();
  for (const context_ptr& c : contexts_) {
    int days = 0, seconds = 0;
    ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(SSL_CTX_get0_certificate(c.get())));
    least = std::min(least, seconds < 0 ? days - 1 : days);
  }
  return least;
}

}  // namespace quintet::tls
