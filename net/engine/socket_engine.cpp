// SPDX-License-Identifier: BSL-1.0
// socket_engine: limits how many connections one turn accepts.
#include "socket_engine.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace quintet {
namespace {

// Connections per turn, so that a storm of them does not starve the open ones. Each takes about 50 us.
constexpr int accept_batch = 8;
// A turn with many events may take 100 ms. It accepts more, so that busy connections do not keep new ones out: at most
// one per event, and for at most 1/accept_share of the time since the previous batch.
constexpr int accept_share = 4;

}  // namespace

error_code socket_engine::check_watchable(const channel& c, const stream_handle& handle) noexcept {
  if (!handle) return system_error_code(EBADF);
  if (handle.carried()) return system_error_code(EOPNOTSUPP);
  if (is_stream(c)) return {};
  struct stat about{};
  if (::fstat(handle.get(), &about) != 0) return system_error_code(errno);
  const bool has_no_events = S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode);
  return has_no_events ? system_error_code(EPERM) : error_code();
}

bool socket_engine::report_error(stream_channel& c) noexcept {
  const int handle = c.handle();
  const error_code reason = kernel_sockets::pending_error(handle);
  if (kernel_sockets::unread_bytes(handle) > 0) {
    c.on_send_failed(reason);
    return false;
  }
  c.on_receive_end(reason == system_error_code(EPIPE) ? system_error_code(ECONNRESET) : reason);
  return true;
}

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
