// SPDX-License-Identifier: BSL-1.0
// tls_handshake: one side of a TLS handshake, as steps on memory.
#pragma once

#include "../filter/handshake.hpp"
#include "tls_filter.hpp"

#include <memory>
#include <string>
#include <utility>

namespace quintet {

class tls_handshake final : public handshake {
 public:
  /// `alive`: what the SSL_CTX refers to. Throws std::bad_alloc.
  tls_handshake(SSL_CTX& of, std::shared_ptr<const void> alive)
      : filter_(std::make_unique<tls_filter>(of, std::move(alive))) {}

  /// Before the first step of a client: the server's name. Throws std::bad_alloc.
  void expect(const std::string& server, bool must_have_name) { filter_->link().expect(server, must_have_name); }
  result step(bytes in, std::string& out) override;
  /// A server's last step in TLS 1.3, which checks the client's Finished, unless it demands a certificate.
  [[nodiscard]] bool is_light() const noexcept override;
  std::unique_ptr<filter> take_filter() override;

 private:
  std::unique_ptr<tls_filter> filter_;
  bool has_read_ = false;
};

}  // namespace quintet
