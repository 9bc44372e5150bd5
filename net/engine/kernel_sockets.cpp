// SPDX-License-Identifier: BSL-1.0
// kernel_sockets: listens, accepts, connects and closes by plain system calls.
#include "kernel_sockets.hpp"

#include "file_descriptor.hpp"
#include "freed_address.hpp"
#include "passed_descriptors.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include <boost/system/system_error.hpp>

namespace quintet {
namespace {

error_code last_error() noexcept { return system_error_code(errno); }

void enable(int fd, int level, int option) noexcept {
  const int on = 1;
  // A failure costs speed or convenience, never correctness, so nobody is told.
  (void)::setsockopt(fd, level, option, &on, sizeof on);
}

/// Sets a buffer's size in bytes, 0 for the default. The kernel doubles the number up to its own maximum.
void set_buffer(int fd, int option, int bytes) noexcept {
  if (bytes > 0) (void)::setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof bytes);
}

bool set_tcp(int fd, int option, std::int64_t value) noexcept {
  const int number = static_cast<int>(value);
  return number == 0 || ::setsockopt(fd, IPPROTO_TCP, option, &number, sizeof number) == 0;
}

bool is_lack_of_descriptors(int error) noexcept { return error == EMFILE || error == ENFILE; }

bool is_readable(int fd) noexcept {
  pollfd about{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&about, 1, 0) > 0;
}

/// Throws if an option that the user has asked for cannot be set.
void require(bool done, const std::string& listener, const char* option) {
  if (!done) throw_system_error(errno, "cannot listen on " + listener + ": cannot set " + option);
}

/// Sets the options of a TCP socket. Connections that a listening socket accepts inherit them.
bool set_keep_alive(int fd, const socket_options& how) noexcept {
  if (!set_tcp(fd, TCP_USER_TIMEOUT, how.user_timeout.count())) return false;
  if (how.keep_alive.count() == 0) return true;
  enable(fd, SOL_SOCKET, SO_KEEPALIVE);
  return set_tcp(fd, TCP_KEEPIDLE, how.keep_alive.count()) &&
         set_tcp(fd, TCP_KEEPINTVL, how.keep_alive_interval().count()) &&
         set_tcp(fd, TCP_KEEPCNT, how.keep_alive_probes);
}

void set_buffers(int fd, const socket_options& how) noexcept {
  set_buffer(fd, SO_SNDBUF, how.send_buffer);
  set_buffer(fd, SO_RCVBUF, how.receive_buffer);
}

/// A socket's name as the kernel has it.
struct socket_name {
  sockaddr_storage at{};
  socklen_t size = 0;  // 0: none
  [[nodiscard]] bool is_ip() const noexcept { return at.ss_family == AF_INET || at.ss_family == AF_INET6; }
  [[nodiscard]] address value() const noexcept {
    return size > 0 ? address(reinterpret_cast<const sockaddr*>(&at), size) : address();
  }
};

/// `how` is getsockname or getpeername.
template <class Ask>
socket_name name_by(Ask how, int fd) noexcept {
  socket_name name;
  socklen_t size = sizeof name.at;
  if (how(fd, reinterpret_cast<sockaddr*>(&name.at), &size) == 0) name.size = size;
  return name;
}

/// Returns the peer of an IP socket. SO_PEERNAME knows it also after a reset, when getpeername() fails. Its size must
/// not exceed that of the name, so the caller passes the size of the socket's own name.
address peer_of_ip(int fd, socklen_t size) noexcept {
  socket_name peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERNAME, &peer.at, &size) == 0) peer.size = size;
  return peer.size > 0 ? peer.value() : name_by(::getpeername, fd).value();  // where the option is not known
}

int get_option(int fd, int option) noexcept {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

/// Takes over a listening socket of the parent process. On failure, the socket stays open.
int adopt(const listen_options& o) {
  const std::string what = "cannot listen on descriptor " + std::to_string(o.descriptor);
  const int flags = ::fcntl(o.descriptor, F_GETFL);
  if (flags < 0) throw_system_error(errno, what);
  if (get_option(o.descriptor, SO_TYPE) != SOCK_STREAM || get_option(o.descriptor, SO_ACCEPTCONN) != 1)
    throw_system_error(EINVAL, what + ": it is not a listening stream socket");
  // accept() must not block once the queue is empty. The parent's descriptor shares this flag.
  if (::fcntl(o.descriptor, F_SETFL, flags | O_NONBLOCK) != 0) throw_system_error(errno, what);
  if (::fcntl(o.descriptor, F_SETFD, FD_CLOEXEC) != 0) throw_system_error(errno, what);
  enable(o.descriptor, IPPROTO_TCP, TCP_NODELAY);  // fails for a Unix socket, without harm
  set_buffers(o.descriptor, o.socket);
  passed_descriptors::refuse(o.descriptor);
  if (name_by(::getsockname, o.descriptor).is_ip())
    require(set_keep_alive(o.descriptor, o.socket), "descriptor " + std::to_string(o.descriptor),
            "socket.keep_alive or socket.user_timeout");
  return o.descriptor;
}

/// Returns false if bind() fails, also after a wait for the address.
bool bind_to(int fd, const address& at) {
  int error = 0;
  const bool done = becomes_free([&] {
    error = ::bind(fd, at.data(), at.size()) == 0 ? 0 : errno;
    return error != EADDRINUSE;
  });
  errno = error;
  return done && error == 0;
}

// A server's first socket has the port alone, so that two servers never share it by mistake. Only then it allows the
// server's other sockets to share the port: two sockets that are bound and do not listen yet may have one port.
void bind_and_listen(int fd, const address& at, const listener_settings& how) {
  const auto share = [fd] {
    const int on = 1;
    return ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0;
  };
  const bool before = how.sharing == port_sharing::next_loop || how.sharing == port_sharing::processes;
  const bool after = how.sharing == port_sharing::first_loop;
  if ((!before || share()) && bind_to(fd, at) && ::listen(fd, how.backlog) == 0 && (!after || share())) return;
  throw_system_error(errno, "cannot listen on " + at.to_string());
}

}  // namespace

int kernel_sockets::listen(const listen_options& options) {
  listening_.reserve(listening_.size() + 1);
  return listening_.emplace_back(options.descriptor >= 0 ? adopt(options) : make_listening(options));
}

int kernel_sockets::make_listening(const listen_options& options) {
  const address at(options.at);
  file_descriptor fd(::socket(at.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) throw_system_error(errno, "cannot listen on " + at.to_string());
  // Before listen(), since the handshake negotiates the window scale. TCP connections inherit both sizes.
  set_buffers(fd.get(), options.socket);
  if (at.is_unix()) passed_descriptors::refuse(fd.get());
  if (at.type() == address::kind::unix_path) {
    unix_path path(fd.get(), at, options);
    paths_.emplace(fd.get(), std::move(path));
    return fd.release();
  }
  if (at.is_ip()) {
    require(set_keep_alive(fd.get(), options.socket), options.at, "socket.keep_alive or socket.user_timeout");
    enable(fd.get(), SOL_SOCKET, SO_REUSEADDR);  // lets a restarted server bind while connections are in TIME_WAIT
    // Accepted sockets inherit it. Replies are sent in whole batches, so Nagle's algorithm would only add latency.
    enable(fd.get(), IPPROTO_TCP, TCP_NODELAY);
  }
  const int v6_only = options.dual_stack ? 0 : 1;
  if (at.type() == address::kind::ipv6 &&
      ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof v6_only) != 0)
    throw_system_error(errno, "cannot listen on " + at.to_string());
  bind_and_listen(fd.get(), at, options);
  return fd.release();
}

// The socket is non-blocking while it connects; finish_connect() makes it blocking. As in listen(), the buffers are set
// before the handshake.
int kernel_sockets::connect(const address& to, error_code& failed, const socket_options& how) noexcept {
  file_descriptor fd(::socket(to.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd && to.is_ip()) enable(fd.get(), IPPROTO_TCP, TCP_NODELAY);  // as for accepted sockets
  if (fd && to.is_unix()) passed_descriptors::refuse(fd.get());
  if (fd) set_buffers(fd.get(), how);
  const bool set = fd && (!to.is_ip() || set_keep_alive(fd.get(), how));
  if (set && (::connect(fd.get(), to.data(), to.size()) == 0 || errno == EINPROGRESS || errno == EINTR))
    return fd.release();
  failed = last_error();
  return -1;
}

error_code kernel_sockets::finish_connect(int handle) noexcept {
  if (const int error = get_option(handle, SO_ERROR); error != 0)
    return error < 0 ? last_error() : system_error_code(error);
  // If nobody listens on an ephemeral port of this machine, the kernel may pick the same port for this end. The socket
  // is then connected to itself, and keeps a server from listening there.
  const socket_name here = name_by(::getsockname, handle);
  if (here.is_ip() && here.value() == name_by(::getpeername, handle).value()) {
    reset(handle);  // an orderly end would keep the port in TIME_WAIT for a minute
    return system_error_code(ECONNREFUSED);
  }
  return ::fcntl(handle, F_SETFL, 0) == 0 ? error_code() : last_error();  // connect() has set no other flag
}

error_code kernel_sockets::set_blocking(int handle) noexcept {
  const int flags = ::fcntl(handle, F_GETFL);
  if (flags < 0) return last_error();
  if ((flags & O_NONBLOCK) == 0 || ::fcntl(handle, F_SETFL, flags & ~O_NONBLOCK) == 0) return {};
  return last_error();
}

error_code kernel_sockets::adopt_stream(stream_handle& stream) noexcept {
  const int handle = stream.get();
  const int type = get_option(handle, SO_TYPE);
  if (type < 0) return ::fcntl(handle, F_GETFD) < 0 ? last_error() : system_error_code(ENOTSOCK);
  if (type != SOCK_STREAM) return system_error_code(EPROTOTYPE);
  const socket_name peer = name_by(::getpeername, handle);
  if (peer.size == 0) {
    if (get_option(handle, SO_ACCEPTCONN) != 0) return system_error_code(EINVAL);  // it listens
    const int pending = get_option(handle, SO_ERROR);
    return system_error_code(pending > 0 ? pending : ENOTCONN);
  }
  stream.facts().is_ip = peer.is_ip();
  return set_blocking(handle);
}

error_code kernel_sockets::pending_error(int handle) noexcept {
  const int error = get_option(handle, SO_ERROR);
  return system_error_code(error > 0 ? error : ECONNRESET);
}

// The error of a reset is told once: a receive that io_uring runs may have taken it.
socket_services::peer_state kernel_sockets::state_of_peer(int handle) const noexcept {
  pollfd state{handle, POLLRDHUP, 0};
  if (::poll(&state, 1, 0) != 1) return peer_state::connected;
  if (state.revents & POLLERR) return peer_state::gone;
  if (!(state.revents & (POLLRDHUP | POLLHUP))) return peer_state::connected;
  tcp_info info{};
  socklen_t size = sizeof info;
  const bool is_tcp = ::getsockopt(handle, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
  return is_tcp && info.tcpi_state == TCP_CLOSE ? peer_state::closed : peer_state::finished;
}

address kernel_sockets::local_address(int handle) const { return name_by(::getsockname, handle).value(); }

address kernel_sockets::remote_address(int handle) const {
  const socket_name peer = name_by(::getpeername, handle);
  return peer.size > 0 ? peer.value() : ends(handle).peer;
}

connection_ends kernel_sockets::ends(int handle) const {
  const socket_name here = name_by(::getsockname, handle);
  return {here.is_ip() ? peer_of_ip(handle, here.size) : name_by(::getpeername, handle).value(), here.value()};
}

void kernel_sockets::limit_buffers(int handle, const socket_options& how) noexcept { set_buffers(handle, how); }

error_code kernel_sockets::set_busy_poll(int handle, int microseconds) noexcept {
  if (::setsockopt(handle, SOL_SOCKET, SO_BUSY_POLL, &microseconds, sizeof microseconds) == 0) return {};
  return last_error();
}

// shutdown() ends the socket, whatever processes have it; close() alone ends it with the last descriptor.
void kernel_sockets::close(int handle, bool is_ip) noexcept {
  if (!paths_.empty()) paths_.erase(handle);
  if (listening_.empty() || std::erase(listening_, handle) == 0) (void)::shutdown(handle, SHUT_RDWR);
  if (is_ip)
    (void)::close(handle);
  else
    passed_descriptors::close_socket(handle);
}

void kernel_sockets::reset_when_closed(int handle) noexcept { reset(handle); }

// SO_LINGER resets with the last descriptor, which a child of fork() may keep. For TCP, connect(AF_UNSPEC) resets at
// once; it fails for a Unix socket, whose peer learns of the end by the shutdown of close().
void kernel_sockets::reset(int handle) noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)::setsockopt(handle, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
  (void)::connect(handle, &nobody, sizeof nobody);
}

bool kernel_sockets::resets_when_closed(int handle) noexcept {
  linger how{};
  socklen_t size = sizeof how;
  return ::getsockopt(handle, SOL_SOCKET, SO_LINGER, &how, &size) == 0 && how.l_onoff != 0 && how.l_linger == 0;
}

error_code kernel_sockets::get_tcp_info(int descriptor, ::tcp_info& to) noexcept {
  socklen_t size = sizeof to;
  return ::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &to, &size) == 0 ? error_code() : last_error();
}

// Of a socket that is no Unix socket, the kernel tells credentials that are nobody's.
error_code kernel_sockets::get_credentials(int descriptor, peer_credentials& to) noexcept {
  int domain = 0;
  ucred peer{};
  socklen_t size = sizeof domain, peer_size = sizeof peer;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return last_error();
  if (domain != AF_UNIX) return system_error_code(EOPNOTSUPP);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0) return last_error();
  to = {peer.pid, peer.uid, peer.gid};
  return {};
}

bool kernel_sockets::is_peer(int handle, const std::function<bool(const peer_credentials&)>& test) {
  peer_credentials peer;
  return !get_credentials(handle, peer) && test(peer);
}

void kernel_sockets::shutdown_send(int handle) noexcept { ::shutdown(handle, SHUT_WR); }

std::size_t kernel_sockets::unread_bytes(int handle) noexcept {
  int count = 0;
  return ::ioctl(handle, FIONREAD, &count) == 0 ? static_cast<std::size_t>(count) : 0;
}

std::size_t kernel_sockets::unsent(int handle) const noexcept {
  int count = 0;
  return ::ioctl(handle, TIOCOUTQ, &count) == 0 ? static_cast<std::size_t>(count) : 0;
}

// The listening socket is non-blocking. Linux allocates a descriptor before it looks for a connection, so accept4 can
// report a lack of descriptors although no connection waits. That is no error.
int kernel_sockets::accept(int listening, error_code& failed) noexcept {
  for (int failures = 1;; ++failures) {
    const int fd = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0 || errno == EAGAIN) return fd;
    if (errno == EINTR || (is_connection_error(errno) && failures < max_consecutive_failures)) continue;
    failed = last_error();
    if (is_lack_of_descriptors(failed.value()) && !is_readable(listening)) failed = {};
    return -1;
  }
}

// The errors of accept(2).
bool kernel_sockets::is_connection_error(int error) noexcept {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

}  // namespace quintet
