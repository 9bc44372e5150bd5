// SPDX-License-Identifier: BSL-1.0
// offer: sends and receives the file of a segment.
#include "offer.hpp"

#include "../kernel_sockets.hpp"
#include "endpoint.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <boost/system/system_error.hpp>

namespace quintet::shm {
namespace {

/// Room for one descriptor beside a message, aligned for its header. Padding gives room for a second.
struct descriptor_room {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

msghdr message_of(iovec& what, descriptor_room& beside) noexcept {
  msghdr m{};
  m.msg_iov = &what;
  m.msg_iovlen = 1;
  m.msg_control = beside.bytes.data();
  m.msg_controllen = beside.bytes.size();
  return m;
}

// Returns the only descriptor. If the peer has sent several, closes all of them.
file_descriptor descriptor_in(msghdr& m) noexcept {
  file_descriptor first;
  int count = 0;
  for (cmsghdr* h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= h->cmsg_len; at += sizeof(int), ++count) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<const char*>(h) + at, sizeof fd);
      first = file_descriptor(fd);
    }
  }
  return count == 1 ? std::move(first) : file_descriptor();
}

// The socket is new, so its buffer has room.
void send_offer(int socket, segment_offer all, int file) {
  iovec what{.iov_base = &all, .iov_len = sizeof all};
  descriptor_room beside;
  msghdr m = message_of(what, beside);
  cmsghdr* const h = CMSG_FIRSTHDR(&m);
  h->cmsg_level = SOL_SOCKET;
  h->cmsg_type = SCM_RIGHTS;
  h->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(h), &file, sizeof file);
  const ssize_t sent = ::sendmsg(socket, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != sizeof all) throw_system_error(sent < 0 ? errno : EPROTO, "cannot offer shared memory");
}

}  // namespace

error_code receive_offer(int socket, segment& made) noexcept {
  segment_offer all;
  iovec what{.iov_base = &all, .iov_len = sizeof all};
  descriptor_room beside;
  msghdr m = message_of(what, beside);
  ssize_t received = -1;
  do received = ::recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received < 0) return system_error_code(errno);
  const file_descriptor file = descriptor_in(m);
  if (received == 0) return system_error_code(ECONNRESET);
  // A stream keeps a message of one send together only while nothing else lies before it, and nothing does here.
  if (received != sizeof all || all.magic != segment_offer::expected_magic ||
      all.version != segment_offer::current_version || !file)
    return system_error_code(EPROTO);
  return segment::attach(file, all.ring_size, all.offset, made);
}

// The endpoint is parked first: the engine that closes the socket after a failure finds it, and leaves its place.
void segment_offerer::offer_to(int socket) {
  const auto& may_attach = how_.may_attach;
  if (may_attach ? !kernel_sockets::is_peer(socket, may_attach) : !kernel_sockets::is_peer(socket, is_own_user))
    throw_system_error(EACCES, "the peer may not attach to shared memory");
  segment made;
  file_descriptor own;
  int file = -1;
  segment_offer what{.magic = segment_offer::expected_magic,
                     .version = segment_offer::current_version,
                     .ring_size = static_cast<std::uint32_t>(how_.ring_size)};
  error_code failed;
  if (how_.connections_per_file > 1) {
    failed = pool_.take(made, file, what.offset);
  } else {
    failed = segment::create(how_.ring_size, made, own);
    file = own.get();
  }
  if (failed) throw boost::system::system_error(failed, "cannot offer shared memory");
  auto entry = parked_endpoints::make(socket, std::move(made));
  entry.mapped().memory.note_offer();
  parked_endpoints::put_back(std::move(entry));
  send_offer(socket, what, file);
}

std::string offer_address(std::string_view at) {
  const std::string there = std::string(at) + ".shm";
  (void)address(there);  // throws if it is too long
  return there;
}

listen_options offer_listener_options(listen_options options) {
  options.at = offer_address(options.at);
  options.upgrade = connection_upgrade::offer;
  return options;
}

}  // namespace quintet::shm
