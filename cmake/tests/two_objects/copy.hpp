// SPDX-License-Identifier: BSL-1.0
// copy: what a shared object with a Quintet of its own offers to the program that loads it.
#pragma once

#include <boost/system/error_code.hpp>

#include <cstdint>

namespace quintet::test {

/// A table of functions, so that the program needs no symbol of the library.
struct copy {
  const char* name;
  /// A server that answers each line with the name of its copy and the line. Throws std::exception.
  void* (*make)(const char* model);
  /// On the calling thread, until it has drained, or on the first of these signals (0: none).
  void (*run)(void* server, int signal);
  std::uint16_t (*port)(void* server);
  void (*drain)(void* server);
  void (*destroy)(void* server);
  /// A client of this copy, which asks so many times in a row; whether each answer began with this.
  bool (*call)(const char* model, std::uint16_t port, const char* begin);
  /// Calls the function within a loop of this copy, which knows before and afterwards that it is the current one.
  bool (*within)(void (*f)(void* with), void* with);
  /// Errors of this copy, and where its category is.
  boost::system::error_code (*error)(int value);
  const void* (*category)();
};

}  // namespace quintet::test

extern "C" {
const quintet::test::copy* quintet_test_copy();
const quintet::test::copy* quintet_test_left();
const quintet::test::copy* quintet_test_right();
}
