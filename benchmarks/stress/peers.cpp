// SPDX-License-Identifier: BSL-1.0
// peers.cpp: non-blocking connects, a bounded number of them at a time.
#include "stress/peers.hpp"

#include "compare/child_process.hpp"
#include "load/connect.hpp"
#include "load/epoll_set.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace quintet::bench {
namespace {

constexpr std::uint64_t look_around_ns = 100'000'000;

[[noreturn]] void refuse(int error) { throw run_error(fmt::format("a peer cannot connect: {}", std::strerror(error))); }

}  // namespace

void open_each(const stress_run& run, const socket_address& to, std::uint64_t count,
               const std::function<void(unique_fd)>& opened) {
  epoll_set ready;
  std::vector<unique_fd> connecting(most_connecting);
  std::vector<std::uint32_t> free(most_connecting);
  for (std::uint32_t i = 0; i < most_connecting; ++i) free[i] = i;
  for (std::uint64_t begun = 0, done = 0; done < count;) {
    for (; begun < count && !free.empty(); ++begun) {
      const std::uint32_t slot = free.back();
      free.pop_back();
      connecting[slot] = start_connect(to, source_of(begun));
      if (!connecting[slot]) refuse(errno);
      ready.add(connecting[slot].get(), EPOLLOUT, slot);
    }
    for (const epoll_event& e : ready.wait(look_around_ns)) {
      const std::uint32_t slot = e.data.u32;
      if (const int error = connect_error(connecting[slot]); error != 0) refuse(error);
      ready.remove(connecting[slot].get());
      opened(std::move(connecting[slot]));
      free.push_back(slot);
      ++done;
    }
    run.check_time();
  }
}

std::vector<unique_fd> open_peers(const stress_run& run, const socket_address& to, unsigned count) {
  std::vector<unique_fd> peers;
  peers.reserve(count);
  open_each(run, to, count, [&](unique_fd fd) { peers.push_back(std::move(fd)); });
  return peers;
}

void reset_all(std::vector<unique_fd>& peers) {
  for (unique_fd& fd : peers)
    if (fd) close_with_reset(fd);
  peers.clear();
}

}  // namespace quintet::bench
