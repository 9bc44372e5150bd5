// SPDX-License-Identifier: BSL-1.0
// copy: the interface of a shared object with its own Quintet, for the program that loads it.
#pragma once

#include <boost/system/error_code.hpp>

#include <cstdint>

namespace quintet::test {

/// A table of functions, so that the program needs no symbol of the library.
struct copy {
  const char* name;
  /// Makes a server that answers each line with the name of its copy and the line. Throws std::exception.
  void* (*make)(const char* model);
  /// Runs the server on the calling thread until it has drained. `signal` starts a drain (0: no signal).
  void (*run)(void* server, int signal);
  std::uint16_t (*port)(void* server);
  void (*drain)(void* server);
  void (*destroy)(void* server);
  /// Runs a client of this copy, which asks 50 questions in sequence. Returns whether each answer began with `begin`.
  bool (*call)(const char* model, std::uint16_t port, const char* begin);
  /// Calls `f` within a loop of this copy. Returns whether that loop was the current one before and after the call.
  bool (*within)(void (*f)(void* with), void* with);
  /// Returns an error of this copy, and the address of its category.
  boost::system::error_code (*error)(int value);
  const void* (*category)();
};

}  // namespace quintet::test

extern "C" {
const quintet::test::copy* quintet_test_copy();
const quintet::test::copy* quintet_test_left();
const quintet::test::copy* quintet_test_right();
}
