// SPDX-License-Identifier: BSL-1.0
// copies: provides a test with two copies of the library.
#pragma once

#include "copy.hpp"

#include <memory>

namespace quintet::test {

/// Two copies of the library, valid while this object lives.
class copies {
 public:
  copies();

  /// Whether the copies share functions. Linked objects do, unless they hide their symbols.
  static const bool share_functions;
  const copy* left = nullptr;
  const copy* right = nullptr;

 private:
  std::shared_ptr<void> second_, first_;  // opened objects; closed in the order of opening
};

}  // namespace quintet::test
