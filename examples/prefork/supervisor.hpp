// SPDX-License-Identifier: BSL-1.0
// supervisor: a parent process that keeps a number of child processes running, until a signal stops them.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <csignal>

namespace prefork {

/// Prints "prefork: <event>" as a line, in one system call, because several processes share the output.
void tell(const std::string& event);

/// The parent has one thread, does nothing else, and waits for signals and ended children in one call.
class supervisor {
 public:
  /// Runs in each child. Calls `ready` once it serves. Returns the exit status of the child.
  using child_function = std::function<int(const std::function<void()>& ready)>;

  supervisor(std::size_t children, child_function call) : call_(std::move(call)), children_(children) {}
  /// Kills (SIGKILL) children that still run, and waits for them.
  ~supervisor();
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  /// Starts all children. Returns whether each has called `ready`; else some have ended. The process must have no other
  /// thread, because a child has only the thread that forks. Throws boost::system::system_error.
  [[nodiscard]] bool start();
  /// Replaces each child that ends, but a child at most once a second. After SIGINT or SIGTERM it sends SIGTERM to all
  /// children, and returns when they have ended: 0 if each had exit status 0, else 1. A second signal does so again.
  /// SIGHUP, if the process handles it, is handled in the parent and in each child.
  [[nodiscard]] int run();

 private:
  using clock = std::chrono::steady_clock;
  struct child {
    pid_t pid = 0;  // 0: none runs
    clock::time_point began{};
  };

  void fork_child(child& c, int ready_end);
  [[noreturn]] void be_child(pid_t parent, int ready_end) const;
  void replace_ended();
  void reap();
  [[nodiscard]] int await_signal(const sigset_t& awaited) const;
  void stop();
  void send_to_all(int signal) const;
  [[nodiscard]] std::size_t running() const;

  child_function call_;
  std::vector<child> children_;
  bool stopping_ = false, failed_ = false;
};

}  // namespace prefork
