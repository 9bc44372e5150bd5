// SPDX-License-Identifier: BSL-1.0
// shared_memory: addresses and facts for tests of shared memory.
#pragma once

#include "client.hpp"

#include <quintet/net/engine/file_descriptor.hpp>
#include <quintet/net/names/address.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <string>

#include <sys/socket.h>
#include <unistd.h>

namespace quintet::test {

/// Returns an abstract Unix address that nobody has used.
inline std::string fresh_unix_address() {
  static std::atomic<int> next{0};
  return "unix:@quintet-test-" + std::to_string(::getpid()) + "-" + std::to_string(next++);
}

/// Returns a socket that is connected to a Unix address.
inline file_descriptor connected_to(const std::string& at) {
  const address to(at);
  file_descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || ::connect(fd.get(), to.data(), to.size()) != 0) throw std::runtime_error("cannot connect to " + at);
  return fd;
}

/// Returns a client over shared memory of the server at a Unix address. It must stay on one thread.
client client_over_shared_memory(const std::string& at);

/// Returns how many segments this process maps. Both ends count if both are in this process.
inline int mapped_segments() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:quintet") != std::string::npos;
  return count;
}

}  // namespace quintet::test
