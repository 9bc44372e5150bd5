// SPDX-License-Identifier: BSL-1.0
// socket_engine: how many connections a turn accepts.
#include "socket_engine.hpp"

#include <algorithm>

namespace quintet {
namespace {

// Per turn, so that a storm of connections does not starve the open ones: one is accepted and placed in some 50 us.
constexpr int accept_batch = 8;
// In a turn with many events, which may take 100 ms, more are accepted: at most one for each event, and in this share
// of the time, so that connections that keep the loop busy do not keep others out.
constexpr int accept_share = 4;

}  // namespace

void socket_engine::accept_ready(accept_channel& c, std::size_t events) noexcept {
  const int listening = c.handle();
  const int most = std::max(accept_batch, static_cast<int>(events));
  const time_point begun = clock::system().now();
  const auto time_is_left = [&] {
    return accepted_until_ == time_point::min() ||
           clock::system().now() - begun < (begun - accepted_until_) / accept_share;
  };
  for (int n = 0; n < most && c.handle() == listening && interest(c) != 0; ++n) {
    if (n >= accept_batch && !time_is_left()) break;
    error_code failed;
    const int handle = kernel.accept(listening, failed);
    if (handle < 0) {
      if (failed) c.on_accept_error(failed);
      break;
    }
    c.on_accepted(handle);
  }
  accepted_until_ = clock::system().now();
}

}  // namespace quintet
