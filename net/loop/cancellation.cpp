// SPDX-License-Identifier: BSL-1.0
// cancellation: which of the reasons cancel, and which end with a request.
#include "cancellation.hpp"

#include <cerrno>

namespace quintet {
namespace {

constexpr cancel_reasons always{cancel_reason::stopped, cancel_reason::drain_deadline, cancel_reason::aborted};
constexpr cancel_reasons of_request{cancel_reason::slow_reader, cancel_reason::failed, cancel_reason::cancelled};
constexpr cancel_reasons end_of_connection{cancel_reason::stopped, cancel_reason::drain_deadline,
                                           cancel_reason::aborted, cancel_reason::slow_reader, cancel_reason::failed};
constexpr cancel_reasons end_of_peer{cancel_reason::peer_finished, cancel_reason::peer_reset};

}  // namespace

error_code error_of(cancel_reason why) noexcept {
  using enum cancel_reason;
  switch (why) {
    case none:
      return {};
    case stopped:
    case drain_deadline:
      return errc::stopped;
    case aborted:
      return errc::aborted;
    case drain:
      return errc::draining;
    case peer_finished:
      return errc::end_of_stream;
    case peer_reset:
      return system_error_code(ECONNRESET);
    case slow_reader:
      return errc::send_timeout;
    case failed:
      return system_error_code(ECANCELED);
    case cancelled:
      return errc::request_cancelled;
    case deadline:
      return errc::deadline_passed;
  }
  return {};
}

// Returns the told reasons that cancel.
std::uint32_t cancel_state::cancelling(std::uint32_t word) noexcept {
  return word & ((word >> asked_shift) | always.bits_) & 0x7ffeU;
}

cancel_reason cancel_state::why() const noexcept {
  const std::uint32_t told = cancelling(load());
  for (unsigned i = 1; i <= static_cast<unsigned>(cancel_reason::deadline); ++i)
    if (told & (1U << i)) return static_cast<cancel_reason>(i);
  return cancel_reason::none;
}

void cancel_state::change(std::uint32_t added, std::uint32_t removed) noexcept {
  std::uint32_t before = load(), after = 0;
  do {
    after = ((before & ~removed) | added) & ~(cancels | abandoned);
    if (cancelling(after)) after |= cancels;
    if ((after & end_of_connection.bits_) || ((after & fin_means_gone) && (after & end_of_peer.bits_)))
      after |= abandoned;
  } while (!word_.compare_exchange_weak(before, after, std::memory_order_release, std::memory_order_relaxed));
}

void cancel_state::end_request(bool awaits) noexcept {
  const std::uint32_t word = load();
  const bool forgets_reset = awaits && !(word & fin_means_gone);
  const std::uint32_t over = of_request.bits_ | (forgets_reset ? cancel_reasons::bit(cancel_reason::peer_reset) : 0U);
  if (word & over) change(0, over);
}

void cancel_state::cancel_on(cancel_reasons these) noexcept {
  change(these.bits_ << asked_shift, ~these.bits_ << asked_shift);
}

}  // namespace quintet
