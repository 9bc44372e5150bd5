// SPDX-License-Identifier: BSL-1.0
// forked: runs a part of a test in a child process, so that a crash there is a result.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quintet::test {

/// An object in memory shared with the children that this process forks. Its destructor is not called.
template <class T>
class shared_object {
 public:
  shared_object() {
    void* const memory = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    object_ = new (memory) T;
  }
  ~shared_object() { ::munmap(object_, sizeof(T)); }
  shared_object(const shared_object&) = delete;
  shared_object& operator=(const shared_object&) = delete;
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }

 private:
  T* object_;
};

/// Runs f() in a child process, whose exit status is its result. The calling process must have one thread. The child
/// dies with its parent.
class forked {
 public:
  template <class F>
  explicit forked(F f) : pid_(::fork()) {
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int s : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS})
      std::signal(s, SIG_DFL);  // not the handlers of Boost.Test
    int status = 99;
    try {
      status = f();
    } catch (...) {
      // The exit status reports it.
    }
    ::_exit(status);
  }
  ~forked() { kill(); }
  forked(const forked&) = delete;
  forked& operator=(const forked&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Returns the status of waitpid() once the child has ended.
  std::optional<int> ended() noexcept {
    if (!status_) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    }
    return status_;
  }
  std::optional<int> wait_for(std::chrono::milliseconds longest) {
    const auto deadline = std::chrono::steady_clock::now() + longest;
    while (!ended() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return status_;
  }
  void kill() noexcept {
    if (ended()) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    status_ = status;
  }

 private:
  pid_t pid_;
  std::optional<int> status_;
};

}  // namespace quintet::test
