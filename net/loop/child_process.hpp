// SPDX-License-Identifier: BSL-1.0
// child_process: a program that a loop starts, and whose end it learns of like of any other event.
#pragma once

#include "event_loop.hpp"

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace quintet {

/// How a program ended.
struct exit_status {
  enum class kind {
    exited,   ///< by itself: `value` is its exit status
    killed,   ///< by the signal `value`
    unknown,  ///< somebody else has collected it: this process ignores SIGCHLD, or waits for any child elsewhere
  };
  kind how = kind::unknown;
  int value = 0;

  [[nodiscard]] bool success() const noexcept { return how == kind::exited && value == 0; }
  friend bool operator==(const exit_status&, const exit_status&) = default;
};

/// At most one program at a time. The loop watches its pidfd, so there is no handler of SIGCHLD, nothing is shared with
/// other loops, and a process number that is used again is never mistaken for it. Needs Linux 5.4, and a loop whose
/// engine watches descriptors: in thread_per_connection that is the main loop, and no connection's.
///
/// Destroying it kills the program (SIGKILL) and forgets on_exit, at any moment, on_exit included; the loop collects
/// the program when it is dead, without waiting. A loop that is destroyed does the same to what still runs on it, and
/// waits for it; a loop that only stops does nothing to it.
///
/// All functions are for the loop's thread, or for a loop that is not running.
class child_process {
 public:
  using exit_function = std::function<void(exit_status)>;

  /// [any thread] The loop must live when start() is called; it may end before this object does.
  explicit child_process(event_loop& on) noexcept : loop_(on) {}
  /// [loop] [before run]
  ~child_process() { abandon(); }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  /// [loop] [before run] Starts the program, which is looked for in PATH unless its name has a slash, and calls on_exit
  /// on the loop when it has ended. on_exit may destroy this object or start another program; an exception of it is
  /// counted in `handler_errors`. The program has the environment, the directory, and standard input, output and error
  /// of this process, no blocked signal, and each signal's usual action.
  ///
  /// After an error nothing runs, and on_exit is not called. Errors: those of exec (no such file, permission denied);
  /// errc::operation_not_supported and errc::no_pidfd, before anything is started; device_or_resource_busy while the
  /// last program runs; invalid_argument without arguments. The calling thread waits until the program has begun.
  [[nodiscard]] error_code start(const std::vector<std::string>& program_and_arguments, exit_function on_exit);
  /// [loop] [before run] Whether on_exit is still to come.
  [[nodiscard]] bool running() const noexcept { return watcher_ != nullptr; }
  /// [loop] [before run] Sends it a signal; no_such_process when none is running.
  error_code kill(int signal = SIGTERM) noexcept;

 private:
  class watcher;
  struct nursery;
  void abandon() noexcept;

  event_loop& loop_;
  watcher* watcher_ = nullptr;  // which the loop owns
};

}  // namespace quintet
