// SPDX-License-Identifier: BSL-1.0
// program: an example as a process of its own, from its announcement to its exit status.
#pragma once

#include <quintet/net/file_descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace example::test {

/// Beside the test's own executable. Killed when the object goes, unless it has ended. Throws std::runtime_error.
class program {
 public:
  /// `--port 0` is added; returns when it has announced its port.
  program(const std::string& name, std::vector<std::string> options);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  void signal(int number) const noexcept;
  /// Its exit status; -1: a signal has ended it.
  int wait();
  /// The most memory that it has had, in KiB.
  [[nodiscard]] std::size_t peak_kib() const;

 private:
  pid_t pid_ = -1;
  quintet::file_descriptor output_;
  std::uint16_t port_ = 0;
};

}  // namespace example::test
