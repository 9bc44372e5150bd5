// SPDX-License-Identifier: BSL-1.0
// child_process: a program that a loop starts, and whose end is an event of the loop.
#pragma once

#include "event_loop.hpp"

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace quintet {

/// How a program ended.
struct exit_status {
  /// Selects what `value` is.
  enum class kind {
    exited,   ///< `value` is its exit status
    killed,   ///< `value` is the signal
    unknown,  ///< its status was lost: this process ignores SIGCHLD, or waits for any child elsewhere
  };
  kind how = kind::unknown;  ///< how it ended
  int value = 0;             ///< see kind

  /// Returns whether the program exited with status 0.
  [[nodiscard]] bool success() const noexcept { return how == kind::exited && value == 0; }
  /// Compares both members.
  friend bool operator==(const exit_status&, const exit_status&) = default;
};

/// Starts and watches one program at a time. The loop watches the program's pidfd: there is no SIGCHLD handler, loops
/// share nothing, and a reused process number is never mistaken for the program. Requires Linux 5.3, and a loop whose
/// engine watches descriptors. In thread_per_connection only the main loop does.
///
/// The destructor kills the program (SIGKILL) and drops on_exit. It may run at any moment, also in on_exit. The loop
/// collects the dead program later, without waiting. A loop that is destroyed kills its remaining programs and waits
/// for them. A loop that stops leaves them alone.
///
/// Call all functions on the loop's thread, or while the loop is not running.
class child_process {
 public:
  /// Gets the way in which the program ended.
  using exit_function = std::function<void(exit_status)>;

  /// [any thread] The loop must live when start() is called. The loop may be destroyed before this object.
  explicit child_process(event_loop& on) noexcept : loop_(on) {}
  /// [loop] [before run] Kills a running program; see above.
  ~child_process() { abandon(); }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  /// [loop] [before run] Starts the program, and calls on_exit on the loop when the program has ended. PATH is searched
  /// unless the name has a slash. on_exit may destroy this object or start another program; its exceptions are counted
  /// in `handler_errors`. The program inherits the environment, the directory, and standard input, output and error. No
  /// signal is blocked, and each has its default action. The calling thread waits until the program has begun.
  ///
  /// After an error no program runs, and on_exit is not called. Errors: those of exec (no such file, permission
  /// denied); errc::operation_not_supported and errc::no_pidfd, before anything is started; device_or_resource_busy
  /// while the last program runs; invalid_argument without arguments.
  [[nodiscard]] error_code start(const std::vector<std::string>& program_and_arguments, exit_function on_exit);
  /// [loop] [before run] Whether a program runs whose on_exit has not been called.
  [[nodiscard]] bool running() const noexcept { return watcher_ != nullptr; }
  /// [loop] [before run] Sends the program a signal. Returns no_such_process if none is running.
  error_code kill(int signal = SIGTERM) noexcept;

 private:
  class watcher;
  struct uncollected_programs;
  void abandon() noexcept;

  event_loop& loop_;
  watcher* watcher_ = nullptr;  // owned by the loop
};

}  // namespace quintet
