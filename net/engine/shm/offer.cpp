// SPDX-License-Identifier: BSL-1.0
// offer: sends and receives the file of a segment.
#include "offer.hpp"

#include "../kernel_sockets.hpp"
#include "../passed_descriptors.hpp"
#include "endpoint.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <boost/system/system_error.hpp>

namespace quintet::shm {
namespace {

/// Room for the descriptors beside a message, aligned for its header: for all that a message can have, since the kernel
/// would close others in this thread.
struct descriptor_room {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(passed_descriptors::most_in_one_message * sizeof(int))> bytes{};
};

msghdr message_of(iovec& what, descriptor_room& beside) noexcept {
  msghdr m{};
  m.msg_iov = &what;
  m.msg_iovlen = 1;
  m.msg_control = beside.bytes.data();
  m.msg_controllen = beside.bytes.size();
  return m;
}

/// A descriptor that a peer has passed, which can be of any file.
class passed_file {
 public:
  passed_file() noexcept = default;
  passed_file(const passed_file&) = delete;
  passed_file& operator=(const passed_file&) = delete;
  ~passed_file() { passed_descriptors::close_in_background(fd_.release()); }
  void add(int descriptor) noexcept {
    passed_descriptors::close_in_background(std::exchange(fd_, file_descriptor(descriptor)).release());
    ++count_;
  }
  /// Closes it here. Only for a file in memory, which takes no time.
  void close() noexcept { fd_.reset(); }
  [[nodiscard]] bool is_one() const noexcept { return count_ == 1; }
  [[nodiscard]] const file_descriptor& get() const noexcept { return fd_; }

 private:
  file_descriptor fd_;
  int count_ = 0;
};

void take_descriptors(msghdr& m, passed_file& into) noexcept {
  for (cmsghdr* h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= h->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<const char*>(h) + at, sizeof fd);
      into.add(fd);
    }
  }
}

// An honest server passes nothing else, and wakes nobody before the client has announced a sleep.
error_code expect_nothing_more(int socket) noexcept {
  passed_descriptors::refuse(socket);
  if (passed_descriptors::can_arrive(socket) || !passed_descriptors::has_unread(socket)) return {};
  passed_descriptors::allow(socket);  // so that the socket is closed in the background
  return system_error_code(EPROTO);
}

/// Whether a user has the name of a Unix address: its file, or for an abstract name the socket that listens there.
bool owns(const address& name, uid_t user) {
  if (name.type() == address::kind::unix_path) {
    struct stat found{};
    return ::stat(std::string(name.path()).c_str(), &found) == 0 && found.st_uid == user;
  }
  error_code failed;
  kernel_sockets probing;
  const passed_descriptors::owned_socket probe(probing.connect(name, failed));
  return probe &&
         kernel_sockets::is_peer(probe.get(), [user](const peer_credentials& server) { return server.user == user; });
}

// The socket is new, so its buffer has room.
void send_offer(int socket, segment_offer offer, int file) {
  iovec what{.iov_base = &offer, .iov_len = sizeof offer};
  descriptor_room beside;
  msghdr m = message_of(what, beside);
  m.msg_controllen = CMSG_SPACE(sizeof(int));
  cmsghdr* const h = CMSG_FIRSTHDR(&m);
  h->cmsg_level = SOL_SOCKET;
  h->cmsg_type = SCM_RIGHTS;
  h->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(h), &file, sizeof file);
  const ssize_t sent = ::sendmsg(socket, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != sizeof offer) throw_system_error(sent < 0 ? errno : EPROTO, "cannot offer shared memory");
}

}  // namespace

error_code receive_offer(int socket, segment& made) noexcept {
  segment_offer offer;
  iovec what{.iov_base = &offer, .iov_len = sizeof offer};
  descriptor_room beside;
  msghdr m = message_of(what, beside);
  ssize_t received = -1;
  do received = ::recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received < 0) return system_error_code(errno);
  passed_file file;
  take_descriptors(m, file);
  if (received == 0) return system_error_code(ECONNRESET);
  // A stream keeps a message of one send together only while nothing else lies before it, and nothing does here.
  if (received != sizeof offer || offer.magic != segment_offer::expected_magic ||
      offer.version != segment_offer::current_version || !file.is_one())
    return system_error_code(EPROTO);
  if (const error_code failed = expect_nothing_more(socket)) return failed;
  const error_code failed = segment::attach(file.get(), offer.ring_size, offer.offset, made);
  if (!failed) file.close();
  return failed;
}

int connect_for_offer(const address& to, error_code& failed) noexcept {
  passed_descriptors::owned_socket s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (s && ::connect(s.get(), to.data(), to.size()) == 0) return s.release();
  failed = system_error_code(errno);
  return -1;
}

bool is_expected_server(int socket, const address& plain,
                        const std::function<bool(const peer_credentials&)>& may_be_server) {
  if (may_be_server) return kernel_sockets::is_peer(socket, may_be_server);
  return kernel_sockets::is_peer(
      socket, [&plain](const peer_credentials& server) { return is_own_user(server) || owns(plain, server.user); });
}

// The stream carries the endpoint before the offer is sent: the engine that closes the stream after a failure leaves
// its place.
void segment_offerer::offer_to(stream_handle& accepted) {
  const int socket = accepted.get();
  pid_t process = 0;
  const auto may_attach = [&](const peer_credentials& peer) {
    process = peer.process;
    return how_.may_attach ? how_.may_attach(peer) : is_own_user(peer);
  };
  if (!kernel_sockets::is_peer(socket, may_attach))
    throw_system_error(EACCES, "the peer may not attach to shared memory");
  if (!closed_->admits(process))
    throw_system_error(EBUSY, "the peer has not left its closed connections over shared memory");
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
    failed = segment::create(how_.ring_size, closed_, made, own);
    file = own.get();
  }
  if (failed) throw boost::system::system_error(failed, "cannot offer shared memory");
  auto end = std::make_unique<carried_endpoint>(std::move(made));
  end->end.memory.note_offer(process);
  accepted = {accepted.release(), std::move(end)};
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
