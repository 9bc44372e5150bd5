// SPDX-License-Identifier: BSL-1.0
// passed_descriptors: refuses descriptors, or closes them on another thread.
#include "passed_descriptors.hpp"

#include "../watch/thread_name.hpp"

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quintet::passed_descriptors {
namespace {

// Headers before Linux 6.16 lack it. alpha, parisc and sparc have other numbers, and keep the way without it.
#if defined(SO_PASSRIGHTS)
constexpr int pass_rights = SO_PASSRIGHTS;
#elif defined(__alpha__) || defined(__hppa__) || defined(__sparc__)
constexpr int pass_rights = -1;
#else
constexpr int pass_rights = 83;
#endif

bool may_refuse() noexcept {
  static const bool may = [] {
    const char* const said = ::secure_getenv("QUINTET_PASSED_DESCRIPTORS");
    return !said || std::string_view(said) != "close";
  }();
  return may;
}

void set(int socket, int value) noexcept {
  (void)::setsockopt(socket, SOL_SOCKET, pass_rights, &value, sizeof value);  // fails before Linux 6.16
}

int get(int socket, int option, int otherwise) noexcept {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 ? value : otherwise;
}

/// A thread that closes descriptors, and those that wait for it. A thread with a descriptor table of its own
/// (loop_options::own_descriptors) shares it with the threads that it starts, so each thread that needs a closing
/// thread has one.
class closing_queue {
 public:
  /// Returns false if the queue is full.
  bool push(int descriptor) noexcept {
    const std::lock_guard lock(mutex_);
    if (count_ == waiting_.size()) return false;
    waiting_[(first_ + count_++) % waiting_.size()] = descriptor;
    changed_.notify_one();
    return true;
  }
  /// The thread closes what waits, then ends.
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_one();
  }
  void run() noexcept {
    for (int next = take(); next >= 0; next = take()) (void)::close(next);
  }

 private:
  int take() noexcept {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return count_ > 0 || ended_; });
    if (count_ == 0) return -1;
    const int next = waiting_[first_];
    first_ = (first_ + 1) % waiting_.size();
    --count_;
    return next;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<int, 4 * most_in_one_message> waiting_{};
  std::size_t first_ = 0, count_ = 0;
  bool ended_ = false;
};

/// The closing thread of one thread. It is detached: nobody may wait until a hostile peer lets it end.
class closing_thread {
 public:
  closing_thread() = default;
  closing_thread(const closing_thread&) = delete;
  closing_thread& operator=(const closing_thread&) = delete;
  ~closing_thread() {
    if (queue_ && process_ == ::getpid()) queue_->end();
  }
  bool push(int descriptor) noexcept {
    // A child of fork() has no such thread. Its copy of the queue may be locked for ever, so it stays.
    if (process_ != ::getpid()) new (&queue_) std::shared_ptr<closing_queue>();
    if (!queue_ && !start()) return false;
    return queue_->push(descriptor);
  }

 private:
  bool start() noexcept {
    sigset_t all{}, before{};
    sigfillset(&all);
    sigdelset(&all, SIGSYS);  // a sandbox may answer calls by it, and the kernel ends a process that blocks it then
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals go to the program's threads
    try {
      queue_ = std::make_shared<closing_queue>();
      start_thread("close", [queue = queue_] { queue->run(); }).detach();
      process_ = ::getpid();
    } catch (...) {
      queue_.reset();
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return queue_ != nullptr;
  }

  std::shared_ptr<closing_queue> queue_;
  pid_t process_ = ::getpid();
};

}  // namespace

void refuse(int socket) noexcept {
  if (may_refuse()) set(socket, 0);
}

void allow(int socket) noexcept { set(socket, 1); }

// Only Unix sockets know the option. Kernels before 6.16 know it of no socket.
bool can_arrive(int handle) noexcept {
  if (const int passes = get(handle, pass_rights, -1); passes >= 0) return passes != 0;
  return errno == ENOPROTOOPT && get(handle, SO_DOMAIN, AF_UNSPEC) == AF_UNIX;
}

bool must_guard(const stream_handle& stream) noexcept {
  const int handle = stream.get();
  if (stream.facts().is_ip || !can_arrive(handle)) return false;
  refuse(handle);
  if (!has_unread(handle)) return can_arrive(handle);
  allow(handle);  // so that close_socket() knows
  return true;
}

// With room for as many descriptors as a message can have, the kernel drops none in this thread, unless the process has
// no descriptors left.
ssize_t receive(int socket, void* into, std::size_t size, int flags) noexcept {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_in_one_message * sizeof(int))> beside;
  iovec place{.iov_base = into, .iov_len = size};
  msghdr m{};
  m.msg_iov = &place;
  m.msg_iovlen = 1;
  m.msg_control = beside.data();
  m.msg_controllen = beside.size();
  const ssize_t n = ::recvmsg(socket, &m, flags | MSG_CMSG_CLOEXEC);
  if (n < 0) return -errno;
  bool passed = (m.msg_flags & MSG_CTRUNC) != 0;
  for (cmsghdr* h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= h->cmsg_len; at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, reinterpret_cast<const char*>(h) + at, sizeof descriptor);
      close_in_background(descriptor);
      passed = true;
    }
  }
  return passed ? -EPROTO : n;
}

void close_in_background(int descriptor) noexcept {
  thread_local closing_thread background;
  if (descriptor >= 0 && !background.push(descriptor)) (void)::close(descriptor);
}

bool has_unread(int socket) noexcept {
  int count = 0;
  return ::ioctl(socket, FIONREAD, &count) == 0 && count > 0;
}

// After shutdown() nothing more arrives, so the answer holds. The peer sees the end at once, whenever the other thread
// closes the socket.
void close_socket(int handle) noexcept {
  if (can_arrive(handle) && get(handle, SO_ACCEPTCONN, 0) == 0) {
    (void)::shutdown(handle, SHUT_RDWR);
    if (has_unread(handle)) return close_in_background(handle);
  }
  (void)::close(handle);
}

}  // namespace quintet::passed_descriptors
