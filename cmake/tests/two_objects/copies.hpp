// SPDX-License-Identifier: BSL-1.0
// copies: where a test gets two copies of the library from.
#pragma once

#include "copy.hpp"

namespace quintet::test {

/// Both are there for as long as it lives.
class copies {
 public:
  copies();
  ~copies();
  copies(const copies&) = delete;
  copies& operator=(const copies&) = delete;

  /// Whether the two share their functions, as objects that the program is linked with do unless they hide them.
  static const bool share_functions;
  const copy* left = nullptr;
  const copy* right = nullptr;

 private:
  void* first_ = nullptr;
  void* second_ = nullptr;
};

}  // namespace quintet::test
