// SPDX-License-Identifier: BSL-1.0
// engine_check: does this kernel have the engine that QUINTET_ENGINE names? Exit status 77, that of a skipped test: no.
#include <quintet/net/engine_kind.hpp>

#include <cstdio>
#include <exception>

int main() {
  try {
    const auto why = quintet::refused_by_kernel(quintet::engine_kind::automatic);
    if (!why) return 0;
    std::printf("skipped: this kernel refuses the engine: %s\n", why.message().c_str());
    return 77;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
