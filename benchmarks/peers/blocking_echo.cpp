// SPDX-License-Identifier: BSL-1.0
// blocking_echo.cpp: hand-written: accept, then a thread that receives and sends until the peer closes.
#include "peers/blocking_echo.hpp"

#include "peers/listen.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

namespace quintet::bench {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

bool send_all(int fd, const char* data, std::size_t size) {
  while (size != 0) {
    const ssize_t sent = ::send(fd, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

void echo(int fd) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(buffer_bytes);  // untouched pages cost nothing
  for (;;) {
    const ssize_t got = ::recv(fd, buffer.get(), buffer_bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || !send_all(fd, buffer.get(), static_cast<std::size_t>(got))) return;
  }
}

}  // namespace

void blocking_echo::run() {
  for (;;) {
    pollfd wanted[] = {{.fd = listening().get(), .events = POLLIN, .revents = 0},
                       {.fd = stop_fd(), .events = POLLIN, .revents = 0}};
    if (::poll(wanted, 2, -1) < 0) continue;
    if (wanted[1].revents != 0) break;
    while (unique_fd fd = accept_from(listening(), true)) start_thread(std::move(fd));
    // Out of descriptors or memory: the connections stay in the backlog, and poll() would spin.
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  end_all();
}

void blocking_echo::start_thread(unique_fd fd) {
  {
    const std::lock_guard lock(mutex_);
    open_.insert(fd.get());
  }
  const int number = fd.get();
  try {
    std::thread([this, own = std::move(fd)]() mutable { serve(std::move(own)); }).detach();
  } catch (const std::system_error&) {  // no more threads: refuses this connection only
    const std::lock_guard lock(mutex_);
    open_.erase(number);
  }
}

void blocking_echo::serve(unique_fd fd) {
  echo(fd.get());
  // Remove the descriptor before closing it: end_all() must not shut down a new connection with the same number. Notify
  // under the lock: this object may be destroyed once the lock is free.
  const std::lock_guard lock(mutex_);
  open_.erase(fd.get());
  fd.reset();
  if (open_.empty()) all_gone_.notify_all();
}

void blocking_echo::end_all() {
  std::unique_lock lock(mutex_);
  for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  all_gone_.wait(lock, [this] { return open_.empty(); });
}

}  // namespace quintet::bench
