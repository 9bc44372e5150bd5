// SPDX-License-Identifier: BSL-1.0
// non_readers.cpp: peers that request 64 MiB each and never read. The server must stay within its memory and serve
// others as if these peers did not exist.
#include "stress/asking.hpp"
#include "stress/good_client.hpp"
#include "stress/memory_group.hpp"
#include "stress/peers.hpp"
#include "stress/server_under_stress.hpp"
#include "stress/window_probes.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace quintet::bench {
namespace {

constexpr std::uint32_t asked_bytes = 64u << 20U;
constexpr double mebibyte = 1 << 20U;

void ask_for_much(const std::vector<unique_fd>& peers) {
  char request[request_bytes]{};
  store_big_endian(request, asking_connection);
  store_big_endian(request + 4, asked_bytes);
  for (const unique_fd& fd : peers) (void)::send(fd.get(), request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Checks for closed connections without reading.
std::size_t count_closed(const std::vector<unique_fd>& peers) {
  return static_cast<std::size_t>(std::count_if(peers.begin(), peers.end(), [](const unique_fd& fd) {
    pollfd state{.fd = fd.get(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&state, 1, 0) == 1;
  }));
}

/// A quarter of the memory is for all output together, the rest for the program and its buffers. For each connection a
/// handler may queue 16 KiB before it waits, and the kernel 64 KiB.
std::vector<std::string> limits(std::size_t memory) {
  return {"--max-output-total", std::to_string(memory / 4), "--high-watermark", "16384", "--tuned-sockets", "16"};
}

void tell_memory(const stress_run& run, server_under_stress& server) {
  const double bound = static_cast<double>(run.settings.memory) / mebibyte;
  run.found.at_most("peak_rss_mib", "most memory of the server's process", server.most_resident_bytes() / mebibyte,
                    bound, "MiB");
  if (server.group()) {
    run.found.at_most("peak_group_mib", "most memory of its group",
                      static_cast<double>(server.group()->peak()) / mebibyte, bound, "MiB");
  } else {
    run.found.remark("without a memory group: this user cannot create one under /sys/fs/cgroup");
  }
}

}  // namespace

void stress_non_readers(stress_run& run) {
  server_under_stress server(run, limits(run.settings.memory), memory_group::make(run.settings.memory));
  good_client good(run, server.target(), 8, 1000);
  std::size_t closed = 0;
  const auto probes_before = window_probes();
  for (unsigned round = 1; round <= run.settings.rounds; ++round) {
    good.begin_round();
    const std::size_t before = server.descriptors();  // includes the good client's, which is connected by now
    good.enter_phase(load_phase::beside_peers);
    auto peers = open_peers(run, server.target(), run.peers);
    ask_for_much(peers);
    run.wait(run.window, [&] { return server.check(), false; });
    closed += count_closed(peers);
    reset_all(peers);
    good.enter_phase(load_phase::changing);
    run.wait(std::chrono::seconds(10), [&] { return server.descriptors() <= before; });
  }
  tell_memory(run, server);
  run.found.tell("asked", "times that 64 MiB were asked for", static_cast<double>(run.peers) * run.settings.rounds);
  run.found.tell("closed", "of these peers the server has closed (max_output_total)", static_cast<double>(closed));
  if (const auto probes = window_probes(); probes && probes_before)
    run.found.tell("window_probes", "times that the kernel asked a peer whether it has room", *probes - *probes_before);
  good.report(2);
  (void)server.stop();
}

}  // namespace quintet::bench
