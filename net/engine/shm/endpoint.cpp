// SPDX-License-Identifier: BSL-1.0
// endpoint: wakes a peer, and the process's table of endpoints.
#include "endpoint.hpp"

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
  std::map<ino_t, endpoint> all;
  std::atomic<std::size_t> size{0};  // of all, for a look without the lock

  void count() noexcept { size.store(all.size(), std::memory_order_release); }
};

// Never destroyed: a loop may end after the static objects.
table& parked() {
  static table& t = *new table;
  return t;
}

ino_t inode_of(int socket) noexcept {
  struct stat found{};
  return ::fstat(socket, &found) == 0 ? found.st_ino : 0;
}

}  // namespace

void wake_peer(int socket) noexcept {
  const char any = 0;
  (void)::send(socket, &any, sizeof any, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool take_wakes(int socket) noexcept {
  std::array<char, 256> ignored{};
  const ssize_t n = ::recv(socket, ignored.data(), ignored.size(), MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

void parked_endpoints::put(int socket, segment&& memory) {
  table& t = parked();
  const std::lock_guard lock(t.mutex);
  t.all.insert_or_assign(inode_of(socket), endpoint(std::move(memory)));
  t.count();
}

void parked_endpoints::put_back(entry&& taken) noexcept {
  table& t = parked();
  const std::lock_guard lock(t.mutex);
  t.all.insert(std::move(taken));
  t.count();
}

parked_endpoints::entry parked_endpoints::take(int socket) noexcept {
  table& t = parked();
  if (t.size.load(std::memory_order_acquire) == 0) return {};
  const ino_t key = inode_of(socket);
  const std::lock_guard lock(t.mutex);
  entry taken = t.all.extract(key);
  t.count();
  return taken;
}

std::size_t parked_endpoints::size() noexcept { return parked().size.load(std::memory_order_acquire); }

}  // namespace quintet::shm
