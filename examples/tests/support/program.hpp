// SPDX-License-Identifier: BSL-1.0
// program: runs an example as a child process.
#pragma once

#include <quintet/net/file_descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace example::test {

/// An example in the directory of the test's executable. The destructor kills it unless wait() was called. Throws
/// std::runtime_error.
class program {
 public:
  /// Starts the program with `--port 0` and `options`. Returns after the program has announced its port.
  program(const std::string& name, std::vector<std::string> options);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  void signal(int number) const noexcept;
  /// Waits for the end. Returns the exit status, or -1 after a signal.
  int wait();
  /// Returns the program's peak memory, in KiB.
  [[nodiscard]] std::size_t peak_kib() const;

 private:
  pid_t pid_ = -1;
  quintet::file_descriptor output_;
  std::uint16_t port_ = 0;
};

}  // namespace example::test
