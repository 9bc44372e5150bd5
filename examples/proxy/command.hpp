// SPDX-License-Identifier: BSL-1.0
// command: the command line: the eight options of Fastsocket's demo server under new names, and those of the proxy.
#pragma once

#include "proxy/service.hpp"

#include <quintet/threadmodels/config.hpp>

namespace example::proxy {

struct command {
  quintet::config config = quintet::config::public_defaults({"127.0.0.1:7080"});
  settings relaying;  ///< without upstreams the program serves one page
  bool verbose = false, keep_alive = false;
};

/// Parses the command line. Ends the program after --help, and after an error.
[[nodiscard]] command parse(int argc, const char* const* argv);

}  // namespace example::proxy
