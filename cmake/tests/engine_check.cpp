// SPDX-License-Identifier: BSL-1.0
// engine_check: can tests use the engine that QUINTET_ENGINE names? Exit status 77, that of a skipped test: no.
#include <quintet/net/engine/make_engine.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr unsigned mebibyte = 1U << 20U;
// A ring takes 132 KiB, all processes of a user share one limit, and the kernel gives back what a ring had some time
// after its end: tests that make loops by the hundred need more than are there at a time.
constexpr rlim_t locked_memory_of_tests = 64 * rlim_t{mebibyte};

bool has_capability(unsigned which) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3]{};
  return ::syscall(SYS_capget, &header, sets) == 0 && (sets[which / 32].effective >> (which % 32) & 1U) != 0;
}

/// All that the user may lock, in bytes, when that is too little.
std::optional<rlim_t> too_little_locked_memory() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur >= locked_memory_of_tests) return std::nullopt;
  if (has_capability(CAP_IPC_LOCK)) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

int main() {
  try {
    if (const auto why = quintet::refused_by_kernel(quintet::engine_kind::automatic)) {
      std::printf("skipped: this kernel refuses the engine: %s\n", why.message().c_str());
      return 77;
    }
    const char* const engine = std::getenv("QUINTET_ENGINE");
    if (engine == nullptr || engine != std::string_view("uring")) return 0;
    if (const auto bytes = too_little_locked_memory()) {
      std::printf(
          "skipped: a user may lock %.1f MiB of memory (ulimit -l), and tests of io_uring need 64; raise "
          "memlock in /etc/security/limits.conf, or run them as root\n",
          static_cast<double>(*bytes) / mebibyte);
      return 77;
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
