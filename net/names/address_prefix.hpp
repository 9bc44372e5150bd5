// SPDX-License-Identifier: BSL-1.0
// address_prefix: a network of addresses, such as 10.0.0.0/8.
#pragma once

#include "address.hpp"

#include <string_view>

namespace quintet {

/// [any thread] A value. Its text: `10.0.0.0/8`, `fd00::/8`, an address such as `::1`, or `unix:` for all Unix peers.
class address_prefix {
 public:
  /// Throws config_error, which lists the allowed forms. Bits behind the prefix must be 0.
  explicit address_prefix(std::string_view text);
  [[nodiscard]] bool contains(const address& a) const noexcept;

 private:
  void parse(std::string_view text);

  address first_;  // of kind none: unix
  unsigned bits_ = 0;
};

}  // namespace quintet
