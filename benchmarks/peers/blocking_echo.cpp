// SPDX-License-Identifier: BSL-1.0
// blocking_echo.cpp: a hand-written echo server with a blocking thread for each connection: it receives and sends until
// the peer closes.
#include "listen.hpp"
#include "load/blocking_io.hpp"
#include "peers/makers.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_set>

namespace quintet::bench {
namespace {

void echo(const unique_fd& fd) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(peer_buffer_bytes);
  for (;;) {
    const ssize_t got = receive_some(fd, {buffer.get(), peer_buffer_bytes});
    if (got <= 0 || !send_whole(fd, {buffer.get(), static_cast<std::size_t>(got)})) return;
  }
}

class blocking_echo final : public listening_peer {
 public:
  using listening_peer::listening_peer;

  void run() override {
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

 private:
  void start_thread(unique_fd fd) {
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

  void serve(unique_fd fd) {
    echo(fd);
    // Remove the descriptor before closing it: end_all() must not shut down a new connection with the same number.
    // Notify under the lock: this object may be destroyed once the lock is free.
    const std::lock_guard lock(mutex_);
    open_.erase(fd.get());
    fd.reset();
    if (open_.empty()) all_gone_.notify_all();
  }

  void end_all() {
    std::unique_lock lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    all_gone_.wait(lock, [this] { return open_.empty(); });
  }

  std::mutex mutex_;
  std::condition_variable all_gone_;
  std::unordered_set<int> open_;  ///< guarded by mutex_; a thread for each
};

}  // namespace

std::unique_ptr<peer_server> make_blocking_echo(const peer_options& o) { return std::make_unique<blocking_echo>(o); }

}  // namespace quintet::bench
