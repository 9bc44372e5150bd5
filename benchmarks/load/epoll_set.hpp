// SPDX-License-Identifier: BSL-1.0
// epoll_set.hpp: an epoll descriptor of one client thread. Each watched descriptor has a number.
#pragma once

#include "load/clock.hpp"
#include "unique_fd.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <system_error>

namespace quintet::bench {

class epoll_set {
 public:
  /// wait() polls for `spin_ns` before it sleeps.
  explicit epoll_set(std::uint64_t spin_ns = 0) : fd_(::epoll_create1(EPOLL_CLOEXEC)), spin_ns_(spin_ns) {
    if (!fd_) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }

  void add(int fd, std::uint32_t mask, std::uint32_t number) { control(EPOLL_CTL_ADD, fd, mask, number); }
  void modify(int fd, std::uint32_t mask, std::uint32_t number) { control(EPOLL_CTL_MOD, fd, mask, number); }

  /// Waits for at most `ns` and returns the ready events. They are valid until the next wait.
  std::span<const epoll_event> wait(std::uint64_t ns) {
    if (const auto spinning = std::min(ns, spin_ns_); spinning != 0) {
      ns -= spinning;
      for (const auto end = now_ns() + spinning; now_ns() < end;)
        if (const auto ready = wait_once(0); !ready.empty()) return ready;
    }
    return wait_once(ns);
  }

 private:
  std::span<const epoll_event> wait_once(std::uint64_t ns) {
    const timespec timeout = to_timespec(ns);
    const int n = ::epoll_pwait2(fd_.get(), events_.data(), static_cast<int>(events_.size()), &timeout, nullptr);
    return std::span(events_).first(static_cast<std::size_t>(std::max(n, 0)));
  }
  void control(int operation, int fd, std::uint32_t mask, std::uint32_t number) {
    epoll_event e{};
    e.events = mask;
    e.data.u32 = number;
    ::epoll_ctl(fd_.get(), operation, fd, &e);
  }

  unique_fd fd_;
  std::uint64_t spin_ns_;
  std::array<epoll_event, 512> events_{};
};

}  // namespace quintet::bench
