// SPDX-License-Identifier: BSL-1.0
// source_spread.hpp: rotates source addresses, so that short connections do not run out of ports.
#pragma once

#include "load/connect.hpp"
#include "load/control.hpp"

namespace quintet::bench {

/// A closed connection keeps its port for a minute, and one address has 28,000 ports. 127.0.0.2 to 127.0.0.251 have
/// seven million. Outside 127.0.0.0/8 there is only one address: use close_by_reset there.
class source_spread {
 public:
  source_spread(const control& c, unsigned start)
      : spreads_(is_loopback_v4(c.target) && !c.settings.close_by_reset), last_(start * 37) {}

  /// Returns the `source` for start_connect(); 0 if the system chooses.
  unsigned next() { return spreads_ ? 2 + ++last_ % 250 : 0; }

 private:
  bool spreads_;
  unsigned last_;
};

}  // namespace quintet::bench
