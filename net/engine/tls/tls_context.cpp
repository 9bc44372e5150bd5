// SPDX-License-Identifier: BSL-1.0
// tls_context: begins handshakes with the certificates in use.
#include "tls_context.hpp"

#include "records.hpp"
#include "reloadable.hpp"
#include "tls_chains.hpp"
#include "tls_handshake.hpp"

#include <utility>

namespace quintet {
namespace {

tls_options checked(tls_options o) {
  if (o.certificates.empty()) throw config_error("tls: certificates is empty; it must have at least one");
  for (const tls_certificate& one : o.certificates)
    if (one.chain_file.empty() || one.key_file.empty())
      throw config_error("tls: a certificate needs both files; its " +
                         std::string(one.chain_file.empty() ? "chain_file" : "key_file") + " is empty");
  if ((o.clients == tls_client_certificates::none) != o.client_ca_file.empty())
    throw config_error("tls: client_ca_file must be set if clients show certificates, and only then");
  if (o.needs_protocol && o.protocols.empty())
    throw config_error("tls: needs_protocol is true; protocols must have at least one");
  if (o.tickets > 16) throw config_error("tls: tickets is " + std::to_string(o.tickets) + "; it must be from 0 to 16");
  return o;
}

}  // namespace

struct tls_context::state : tls::reloadable<tls_options, tls::tls_chains> {
  explicit state(tls_options o) : reloadable(checked(std::move(o))) {}
};

tls_context::tls_context(tls_options options) : state_(std::make_unique<state>(std::move(options))) {}
tls_context::~tls_context() = default;

std::optional<std::string> tls_context::reload() { return state_->reload(); }
std::uint64_t tls_context::reloads() const noexcept { return state_->reloads(); }
std::uint64_t tls_context::failed_reloads() const noexcept { return state_->failed_reloads(); }
int tls_context::days_to_expiry() const noexcept { return state_->in_use()->days_to_expiry(); }

// A record of a handshake (22) of version 3.x, not empty, that begins with a ClientHello (1).
handshake_source::first_record tls_context::examine(bytes first) const noexcept {
  constexpr auto differs = [](bytes from, std::size_t at, unsigned char wanted) {
    return from.size() > at && static_cast<unsigned char>(from[at]) != wanted;
  };
  const bool is_other = differs(first, 0, 22) || differs(first, 1, 3) ||
                        (first.size() > 2 && tls::byte_at(first, 2) > 4) || differs(first, tls::header_size, 1);
  if (is_other) return {.failed = errc::not_tls};
  if (first.size() < tls::header_size) return {};
  const std::size_t length = tls::length_of_first(first);
  if (length == 0 || length > tls::longest_plain) return {.failed = errc::not_tls};
  return {.is_whole = tls::size_of_first(first) > 0};
}

std::unique_ptr<handshake> tls_context::begin(std::string_view) {
  std::shared_ptr<const tls::tls_chains> chains = state_->in_use();
  SSL_CTX& first = chains->first();
  return std::make_unique<tls_handshake>(first, std::move(chains));
}

}  // namespace quintet
