// SPDX-License-Identifier: BSL-1.0
// tls_filter: the records of TLS, after the handshake.
#pragma once

#include "../../names/tls_info.hpp"
#include "../filter/filter.hpp"
#include "tls_link.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace quintet {

/// Holds no part of a record while it has no plain bytes for which there was no room. Ends a peer that sends more
/// records without plain bytes than it is allowed (errc::tls_flood): OpenSSL has no limit of key updates.
class tls_filter final : public filter {
 public:
  /// Records without plain bytes that a peer may send, and how many plain bytes allow one more.
  static constexpr std::uint64_t most_empty = 32, plain_for_another = 16 * 1024;

  /// `alive`: what the SSL_CTX refers to. Throws std::bad_alloc.
  tls_filter(SSL_CTX& of, std::shared_ptr<const void> alive) : alive_(std::move(alive)), link_(of) {}

  result decrypt(bytes in, std::span<char> out) noexcept override;
  result encrypt(bytes in, std::span<char> out) noexcept override;
  result finish(std::span<char> out) noexcept override;
  [[nodiscard]] std::shared_ptr<const tls_info> info() const noexcept override { return info_; }

  /// For the handshake.
  [[nodiscard]] tls::tls_link& link() noexcept { return link_; }
  void set_info(std::shared_ptr<const tls_info> info) noexcept { info_ = std::move(info); }

 private:
  std::shared_ptr<const void> alive_;
  std::shared_ptr<const tls_info> info_;
  std::uint64_t received_ = 0;  // plain bytes
  std::uint64_t empty_ = 0;     // records without
  tls::tls_link link_;
};

}  // namespace quintet
