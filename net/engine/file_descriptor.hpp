// SPDX-License-Identifier: BSL-1.0
// file_descriptor: owns a descriptor and closes it.
#pragma once

#include <unistd.h>

#include <utility>

namespace quintet {

/// Owns a descriptor, or none, and closes it.
class file_descriptor {
 public:
  file_descriptor() noexcept = default;
  /// Takes the ownership of `fd`; -1: none.
  explicit file_descriptor(int fd) noexcept : fd_(fd) {}
  file_descriptor(file_descriptor&& other) noexcept : fd_(other.release()) {}
  file_descriptor& operator=(file_descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~file_descriptor() { reset(); }

  /// Returns the descriptor, or -1.
  [[nodiscard]] int get() const noexcept { return fd_; }
  /// Gives the ownership to the caller: returns the descriptor, and keeps none.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  /// Closes the descriptor, if there is one.
  void reset() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  /// Returns whether there is a descriptor.
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace quintet
