// SPDX-License-Identifier: BSL-1.0
// child_process.hpp: a child program that is read line by line, and stopped by its owner's destructor at the latest.
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

// Finds a program by PATH; nullopt if there is none.
std::optional<std::string> find_program(const std::string& name);

class child_process {
 public:
  using clock = std::chrono::steady_clock;

  // Starts the program in a process group of its own, so that Ctrl-C reaches this process alone. Throws run_error.
  child_process(std::string name, const std::vector<std::string>& arguments);
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  pid_t pid() const { return pid_; }

  // Returns the next line of the program's standard output; nullopt after its end. Throws run_error at the deadline,
  // and interrupted.
  std::optional<std::string> read_line(clock::time_point deadline);
  // Skips lines until one begins with `prefix`, and returns the
  // rest of that line. Throws run_error if the program ends before.
  std::string await_line(std::string_view prefix, clock::time_point deadline);

  // Returns the wait status if the program has ended.
  std::optional<int> poll_status();
  // Waits for the program's end. Throws like read_line().
  int wait(clock::time_point deadline);
  // Sends SIGTERM, and SIGKILL if the program has not ended two seconds later.
  void stop();

  // Returns the program's standard error so far.
  std::string complaints() const;
  // Returns "ended with status 1: bind: Address already in use".
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
