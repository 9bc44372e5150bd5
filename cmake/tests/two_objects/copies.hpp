// SPDX-License-Identifier: BSL-1.0
// copies: where a test gets two copies of the library from.
#pragma once

#include "copy.hpp"

#include <memory>

namespace quintet::test {

/// Both are there for as long as it lives.
class copies {
 public:
  copies();

  /// Whether the two share their functions, as objects that the program is linked with do unless they hide them.
  static const bool share_functions;
  const copy* left = nullptr;
  const copy* right = nullptr;

 private:
  std::shared_ptr<void> second_, first_;  // what has been opened; not closed in the reverse order
};

}  // namespace quintet::test
