// SPDX-License-Identifier: BSL-1.0
// engine_check: exits with 77, the status of a skipped test, if tests cannot use the engine that QUINTET_ENGINE names.
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
// A ring takes 132 KiB, and all processes of a user share one limit. The kernel releases a ring's memory some time
// after its end. So tests that make hundreds of loops need more than the rings that exist at a time.
constexpr rlim_t locked_memory_of_tests = 64 * rlim_t{mebibyte};

bool has_capability(unsigned which) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3]{};
  return ::syscall(SYS_capget, &header, sets) == 0 && (sets[which / 32].effective >> (which % 32) & 1U) != 0;
}

/// Returns the bytes that the user may lock if they are too few for the tests, else nothing.
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
