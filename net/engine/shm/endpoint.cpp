// SPDX-License-Identifier: BSL-1.0
// endpoint: wakes a peer, and the process's table of endpoints.
#include "endpoint.hpp"

#include "../passed_descriptors.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

#include <sys/socket.h>
#include <sys/stat.h>

namespace quintet::shm {
namespace {

struct table {
  std::mutex mutex;
  std::map<std::uint64_t, endpoint> all;
  std::atomic<std::size_t> size{0};  // of all, for a look without the lock

  void count() noexcept { size.store(all.size(), std::memory_order_release); }
};

// Never destroyed: a loop may end after the static objects.
table& parked() {
  static table& t = *new table;
  return t;
}

// The kernel numbers sockets from 1, and uses no number again; inodes wrap around after 32 bits. What is no socket has
// its inode, above all numbers. Returns 0 if the descriptor is not open.
std::uint64_t cookie_of(int socket) noexcept {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (::getsockopt(socket, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0) return cookie;
  struct stat found{};
  return ::fstat(socket, &found) == 0 ? found.st_ino | std::uint64_t{1} << 63U : 0;
}

}  // namespace

void wake_peer(int socket) noexcept {
  const char any = 0;
  (void)::send(socket, &any, sizeof any, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool take_wakes(int socket) noexcept {
  std::array<char, 256> ignored{};
  const ssize_t n = passed_descriptors::receive(socket, ignored.data(), ignored.size(), MSG_DONTWAIT);
  return n == 0 || (n < 0 && n != -EAGAIN && n != -EINTR);
}

parked_endpoints::entry parked_endpoints::make(int socket, segment&& memory) {
  const std::uint64_t key = cookie_of(socket);
  if (key == 0) throw_system_error(errno, "shared memory needs an open socket");
  std::map<std::uint64_t, endpoint> one;
  one.emplace(key, endpoint(std::move(memory)));
  return one.extract(key);
}

void parked_endpoints::put_back(entry&& made) noexcept {
  table& t = parked();
  entry stale;  // of a socket that was closed behind the engine's back; destroyed without the lock
  const std::lock_guard lock(t.mutex);
  stale = t.all.extract(made.key());
  t.all.insert(std::move(made));
  t.count();
}

parked_endpoints::entry parked_endpoints::take(int socket) noexcept {
  table& t = parked();
  if (t.size.load(std::memory_order_acquire) == 0) return {};
  const std::uint64_t key = cookie_of(socket);
  if (key == 0) return {};
  const std::lock_guard lock(t.mutex);
  entry taken = t.all.extract(key);
  t.count();
  return taken;
}

std::size_t parked_endpoints::size() noexcept { return parked().size.load(std::memory_order_acquire); }

}  // namespace quintet::shm
