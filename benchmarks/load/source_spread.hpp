// SPDX-License-Identifier: BSL-1.0
// source_spread.hpp: source addresses in turn, so that short connections do not run out of ports.
#pragma once

#include "load/connect.hpp"
#include "load/control.hpp"

namespace quintet::bench {

/// A closed connection keeps its port for a minute, and one address has 28,000 of them. 127.0.0.2 to 127.0.0.251 have
/// seven million. Anywhere else than on 127.0.0.0/8 there is one address only: close by reset there.
class source_spread {
 public:
  source_spread(const control& c, unsigned start)
      : spreads_(is_loopback_v4(c.target) && !c.settings.close_by_reset), last_(start * 37) {}

  /// For start_connect(): 0 where the system is to choose.
  unsigned next() { return spreads_ ? 2 + ++last_ % 250 : 0; }

 private:
  bool spreads_;
  unsigned last_;
};

}  // namespace quintet::bench
