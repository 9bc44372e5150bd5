// SPDX-License-Identifier: BSL-1.0
// proxy_reader: looks at what has arrived, and takes the header's bytes out of the socket.
#include "proxy_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

#include <sys/socket.h>

namespace quintet {
namespace {

ssize_t receive(int socket, char* to, std::size_t size, int flags) noexcept {
  for (;;)
    if (const ssize_t got = ::recv(socket, to, size, MSG_DONTWAIT | flags); got >= 0 || errno != EINTR) return got;
}

}  // namespace

void proxy_reader::start(int socket) noexcept {
  socket_ = socket;
  if (read()) return;
  if (const error_code refused = loop_.io().add(*this, socket_)) return finish(refused);
  loop_.start(*this, how_.timeout);
}

void proxy_reader::read_and_stop() noexcept {
  if (!read()) stop();
}

// The loop may have been held up.
void proxy_reader::expired() noexcept {
  if (!read()) finish(errc::missing_proxy_header);
}

// Returns true when it has finished.
bool proxy_reader::read() noexcept {
  proxy_header header;
  error_code failed;
  try {
    failed = try_read(header);
  } catch (const std::bad_alloc&) {
    failed = make_error_code(boost::system::errc::not_enough_memory);
  }
  if (!failed && header.is == proxy_header::state::incomplete) return false;
  finish(failed, header);
  return true;
}

// All bytes before the end of an incomplete header are its own.
error_code proxy_reader::try_read(proxy_header& header) {
  const std::size_t before = arrived_.size();
  arrived_.resize(std::max(how_.max_size, longest_v1));
  const ssize_t got = receive(socket_, arrived_.data() + before, arrived_.size() - before, MSG_PEEK);
  const int error = errno;
  arrived_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got == 0) return errc::missing_proxy_header;
  if (got < 0) return error == EAGAIN ? error_code() : system_error_code(error);
  header = read_proxy_header(arrived_, how_.max_size);
  if (header.is == proxy_header::state::malformed) return errc::malformed_proxy_header;
  const std::size_t end = header.is == proxy_header::state::complete ? header.size : arrived_.size();
  return take(end - before) ? error_code() : errc::missing_proxy_header;
}

bool proxy_reader::take(std::size_t count) noexcept {
  std::array<char, 512> taken;  // NOLINT(cppcoreguidelines-pro-type-member-init): recv() fills it
  while (count > 0) {
    const ssize_t got = receive(socket_, taken.data(), std::min(count, taken.size()), 0);
    if (got <= 0) return false;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

void proxy_reader::finish(error_code failed, const proxy_header& header) noexcept {
  proxy_reader_hook::unlink();
  cancel();
  if (handle() >= 0) loop_.io().remove(*this);
  loop_.defer(*this);  // the engine may be dispatching
  finished(failed, header);
}

}  // namespace quintet
