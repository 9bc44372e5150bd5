// SPDX-License-Identifier: BSL-1.0
// handshake_figures: what listeners count of their handshakes.
#pragma once

#include "../../base/error.hpp"
#include "../../base/metrics/counter.hpp"

#include <cstdint>

namespace quintet {

/// Each connection that is to have TLS ends as one of `done`, `gone` or `failed`, whether it has begun or not; the last
/// six say why one failed. A `Value` is a counter.
template <class Value>
struct handshake_figures {
  Value begun{};             ///< the peer's first record was whole
  Value done{};              ///< the connection was given to a handler
  Value gone{};              ///< the peer closed or reset the connection before
  Value failed{};            ///< for one of these reasons, or without memory
  Value not_tls{};           ///< errc::not_tls
  Value bad_version{};       ///< errc::tls_version_refused
  Value bad_certificate{};   ///< of a client: errc::tls_certificate_missing, _expired and _refused
  Value timed_out{};         ///< errc::tls_handshake_timeout
  Value input_before{};      ///< errc::input_before_tls
  Value otherwise_broken{};  ///< all other reasons

  template <class F, class... Tables>
  static constexpr void each(F f, Tables&... of) {
    f("begun", of.begun...);
    f("done", of.done...);
    f("gone", of.gone...);
    f("failed", of.failed...);
    f("not_tls", of.not_tls...);
    f("bad_version", of.bad_version...);
    f("bad_certificate", of.bad_certificate...);
    f("timed_out", of.timed_out...);
    f("input_before", of.input_before...);
    f("otherwise_broken", of.otherwise_broken...);
  }
};

using handshake_counters = handshake_figures<shared_counter>;  // connections of many loops may begin TLS
using handshake_statistics = figure_sums<handshake_figures>;

/// [any thread] Returns whether a handshake has failed, and not only ended with its peer or its server.
[[nodiscard]] bool is_failure(error_code reason) noexcept;
/// [loop] Counts how one that was not stopped has ended.
void count_end(handshake_counters& in, error_code reason) noexcept;

}  // namespace quintet
