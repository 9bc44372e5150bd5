// SPDX-License-Identifier: BSL-1.0
// http_servers.hpp: the example http_hello and nginx under short HTTP connections.
#pragma once

#include <string>

#include "compare/runner.hpp"

namespace quintet::bench {

// Paths of the two programs.
struct http_programs {
  std::string nginx, http_hello;

  // Throws usage_error, which says what to install or build.
  static http_programs find(const std::string& http_hello);
};

measure_function measure_http(http_programs);

// Returns nginx's configuration: `workers` workers, a file of 64
// bytes, no keep-alive, no accept mutex, all files in `directory`.
std::string nginx_configuration(const std::string& directory, const std::string& port, unsigned workers);

}  // namespace quintet::bench
