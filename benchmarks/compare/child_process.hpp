// SPDX-License-Identifier: BSL-1.0
// child_process.hpp: a program started by us, read line by line, and stopped at the latest when its owner goes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "unique_fd.hpp"

namespace quintet::bench {

// Why a run gave no figures.
struct run_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Where this program is, by PATH; nothing where it is not.
std::optional<std::string> find_program(const std::string& name);

class child_process {
 public:
  using clock = std::chrono::steady_clock;

  // Starts in a process group of its own, so that Ctrl-C reaches us alone. Throws run_error.
  child_process(std::string name, const std::vector<std::string>& arguments);
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  pid_t pid() const { return pid_; }

  // The next line of its standard output; nothing when it has ended. Throws run_error at the deadline, and interrupted.
  std::optional<std::string> read_line(clock::time_point deadline);
  // Skips lines until one begins with this; returns what follows. Throws run_error if it ends before.
  std::string await_line(std::string_view prefix, clock::time_point deadline);

  // Its wait status, if it has ended.
  std::optional<int> poll_status();
  // Waits for its end; throws like read_line.
  int wait(clock::time_point deadline);
  // SIGTERM, and SIGKILL where that does not help within two seconds.
  void stop();

  // All that it has written to its standard error.
  std::string complaints() const;
  // "ended with status 1: bind: Address already in use"
  std::string ending();

 private:
  std::string last_complaint() const;

  std::string name_;
  pid_t pid_ = -1;
  unique_fd out_, err_;  // a pipe; a file in memory
  std::string buffer_;
  std::optional<int> status_;
};

}  // namespace quintet::bench
