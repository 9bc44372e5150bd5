// SPDX-License-Identifier: BSL-1.0
// tls_handshake: gives OpenSSL whole records, and reads what it has agreed on.
#include "tls_handshake.hpp"

#include "records.hpp"

#include <array>
#include <new>
#include <string>

namespace quintet {
namespace {

using tls::certificate_ptr, tls::view_of;

/// Returns the bytes of all whole records.
std::size_t size_of_whole(bytes in) noexcept {
  std::size_t whole = 0;
  while (const std::size_t next = tls::size_of_first(in.substr(whole))) whole += next;
  return whole;
}

std::string subject_of(const X509& certificate) {
  const tls::bio_ptr text(BIO_new(BIO_s_mem()));
  if (!text) throw std::bad_alloc();
  X509_NAME_print_ex(text.get(), X509_get_subject_name(&certificate), 0, XN_FLAG_RFC2253);
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string address_of(std::string_view octets) {
  std::string text = "IP:";
  for (std::size_t i = 0; i < octets.size(); ++i) {
    const auto octet = static_cast<unsigned char>(octets[i]);
    if (octets.size() == 4) {
      text += (i == 0 ? "" : ".") + std::to_string(octet);
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      if (i > 0 && i % 2 == 0) text += ':';
      text += {digits[octet >> 4U], digits[octet & 15U]};
    }
  }
  return text;
}

std::string text_of(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_DNS:
      return "DNS:" + std::string(view_of(name.d.dNSName));
    case GEN_EMAIL:
      return "email:" + std::string(view_of(name.d.rfc822Name));
    case GEN_URI:
      return "URI:" + std::string(view_of(name.d.uniformResourceIdentifier));
    case GEN_IPADD:
      return address_of(view_of(name.d.iPAddress));
    default:
      return {};  // kinds that nobody compares as a text
  }
}

std::vector<std::string> names_of(const X509& certificate) {
  const tls::names_ptr all = tls::names_in(certificate);
  std::vector<std::string> texts;
  for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i)
    if (std::string text = text_of(*sk_GENERAL_NAME_value(all.get(), i)); !text.empty())
      texts.push_back(std::move(text));
  return texts;
}

std::unique_ptr<const tls_peer_certificate> certificate_of(const SSL& ssl) {
  const certificate_ptr shown(SSL_get1_peer_certificate(&ssl));
  if (!shown) return nullptr;
  auto found = std::make_unique<tls_peer_certificate>();
  found->is_verified = SSL_get_verify_result(&ssl) == X509_V_OK;
  found->subject = subject_of(*shown);
  found->names = names_of(*shown);
  X509_digest(shown.get(), EVP_sha256(), found->fingerprint.data(), nullptr);
  return found;
}

// The hash of the server's certificate, by the algorithm of its signature. An old one is replaced, as RFC 5929 demands.
std::string end_point_of(const X509* certificate) {
  int digest = NID_undef;
  if (!certificate || X509_get_signature_info(const_cast<X509*>(certificate), &digest, nullptr, nullptr, nullptr) != 1)
    return {};
  if (digest == NID_md5 || digest == NID_sha1) digest = NID_sha256;
  const EVP_MD* const hash = EVP_get_digestbynid(digest);
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned size = 0;
  if (!hash || X509_digest(certificate, hash, sum.data(), &size) != 1) return {};
  return {sum.begin(), sum.begin() + size};
}

std::shared_ptr<const tls_info> info_of(const SSL& ssl) {
  const tls::empty_errors around;
  auto info = std::make_shared<tls_info>();
  info->version = SSL_get_version(&ssl);
  info->cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(&ssl));
  info->is_resumed = SSL_session_reused(&ssl) == 1;
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(&ssl, &protocol, &size);
  info->protocol.assign(reinterpret_cast<const char*>(protocol), size);
  const char* const name = SSL_get_servername(&ssl, TLSEXT_NAMETYPE_host_name);
  info->server_name = name ? name : "";
  if (SSL_is_server(&ssl) == 1) info->end_point = end_point_of(SSL_get_certificate(&ssl));
  info->certificate = certificate_of(ssl);
  return info;
}

}  // namespace

handshake::result tls_handshake::step(bytes in, std::string& out) {
  const bytes whole = in.substr(0, size_of_whole(in));
  const bytes rest = in.substr(whole.size());
  const bool is_broken = tls::is_no_record(rest) || tls::is_too_long(rest);
  tls::tls_link& link = filter_->link();
  const error_code broken = has_read_ || !whole.empty() ? errc::tls_bad_record : errc::not_tls;
  if (whole.empty() && !link.speaks_first()) return {.failed = is_broken ? broken : error_code()};
  has_read_ |= !whole.empty();
  const auto done = link.shake_hands(whole);
  out += std::exchange(link.late(), {});
  result r{.consumed = done.consumed, .is_done = done.is == tls::tls_link::state::secured, .failed = done.failed};
  if (r.is_done)
    filter_->set_info(info_of(link.ssl()));
  else if (!r.failed && is_broken)
    r.failed = broken;
  return r;
}

// OpenSSL's name of the state in which a server awaits the client's second flight, also without early data.
bool tls_handshake::is_light() const noexcept {
  const SSL& ssl = filter_->link().ssl();
  return SSL_get_state(&ssl) == TLS_ST_EARLY_DATA && SSL_get_verify_mode(&ssl) == SSL_VERIFY_NONE;
}

std::unique_ptr<filter> tls_handshake::take_filter() { return std::move(filter_); }

}  // namespace quintet
