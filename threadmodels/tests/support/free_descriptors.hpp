// SPDX-License-Identifier: BSL-1.0
// free_descriptors: a real limit on descriptors, close above those that are open.
#pragma once

#include <cstddef>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace quintet::test {

/// The process can open `count` more descriptors while this object lives.
class free_descriptors {
 public:
  explicit free_descriptors(std::size_t count) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit now = before_;
    now.rlim_cur = first_free() + count;
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~free_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  free_descriptors(const free_descriptors&) = delete;
  free_descriptors& operator=(const free_descriptors&) = delete;

 private:
  static std::size_t first_free() {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(fd);
    return static_cast<std::size_t>(fd);
  }
  rlimit before_{};
};

}  // namespace quintet::test
