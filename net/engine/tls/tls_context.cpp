// SPDX-License-Identifier: BSL-1.0
// tls_context: swaps certificates, and begins handshakes.
#include "tls_context.hpp"

#include "records.hpp"
#include "tls_chains.hpp"
#include "tls_handshake.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace quintet {
namespace {

using tls::tls_chains;

constexpr int most_tries = 3;
constexpr auto between_tries = std::chrono::milliseconds(20);

tls_options checked(tls_options o) {
  if (o.certificates.empty()) throw config_error("tls: certificates is empty; it must have at least one");
  if ((o.clients == tls_client_certificates::none) != o.client_ca_file.empty())
    throw config_error("tls: client_ca_file must be set if clients show certificates, and only then");
  if (o.needs_protocol && o.protocols.empty())
    throw config_error("tls: needs_protocol is true; protocols must have at least one");
  if (o.tickets > 16) throw config_error("tls: tickets is " + std::to_string(o.tickets) + "; it must be from 0 to 16");
  return o;
}

}  // namespace

struct tls_context::state {
  explicit state(tls_options o) : options(checked(std::move(o))), in_use(std::make_shared<const tls_chains>(options)) {}

  [[nodiscard]] std::shared_ptr<const tls_chains> chains() const {
    const std::lock_guard lock(mutex);
    return in_use;
  }

  const tls_options options;
  std::mutex reloading;  // one at a time
  mutable std::mutex mutex;
  std::shared_ptr<const tls_chains> in_use;  // guarded by mutex
  std::atomic<std::uint64_t> reloads{0}, failed_reloads{0};
};

tls_context::tls_context(tls_options options) : state_(std::make_unique<state>(std::move(options))) {}
tls_context::~tls_context() = default;

std::optional<std::string> tls_context::reload() {
  const std::lock_guard one(state_->reloading);
  for (int tries = 1;; ++tries) try {
      auto fresh = std::make_shared<const tls_chains>(state_->options);
      {
        const std::lock_guard lock(state_->mutex);
        state_->in_use.swap(fresh);
      }
      ++state_->reloads;
      return std::nullopt;
    } catch (const config_error& why) {
      if (tries < most_tries) {  // somebody may be between two renames
        std::this_thread::sleep_for(between_tries);
        continue;
      }
      ++state_->failed_reloads;
      return why.what();
    }
}

std::uint64_t tls_context::reloads() const noexcept { return state_->reloads; }
std::uint64_t tls_context::failed_reloads() const noexcept { return state_->failed_reloads; }
int tls_context::days_to_expiry() const noexcept { return state_->chains()->days_to_expiry(); }

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
  if (length < 4 || length > tls::longest_plain) return {.failed = errc::not_tls};
  return {.is_whole = tls::size_of_first(first) > 0};
}

std::unique_ptr<handshake> tls_context::begin(std::string_view) {
  std::shared_ptr<const tls_chains> chains = state_->chains();
  SSL_CTX& first = chains->first();
  return std::make_unique<tls_handshake>(first, std::move(chains));
}

}  // namespace quintet
