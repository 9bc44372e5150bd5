// SPDX-License-Identifier: BSL-1.0
// descriptors.cpp: more peers than the server has descriptors. Waiting peers must not be closed, get wrong replies, or
// cost CPU. The server must accept them as soon as descriptors are free.
#include "load/connect.hpp"
#include "stress/asking.hpp"
#include "stress/good_client.hpp"
#include "stress/peers.hpp"
#include "stress/server_under_stress.hpp"

#include <algorithm>

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t server_files = 256;

struct waiting_found {
  std::size_t served_at_limit = 0, expected_at_limit = 0;
  std::size_t waiting = 0, closed = 0, wrong = 0, served_afterwards = 0;
  double most_cpu = 0;        ///< of the busiest thread, as a fraction of a CPU
  double worst_delay_ms = 0;  ///< from the release of descriptors to the last reply
};

/// Closes `count` of the served peers.
void leave(std::vector<unique_fd>& peers, asking& round, std::size_t count) {
  for (std::size_t i = 0; i < peers.size() && count > 0; ++i) {
    if (round.of(i) != fate::answered) continue;
    round.forget(i);
    close_with_reset(peers[i]);
    --count;
  }
}

void have_too_many(const stress_run& run, server_under_stress& server, good_client& good, waiting_found& found) {
  good.enter_phase(load_phase::changing);
  const std::size_t room = server_files - server.descriptors();
  auto peers = open_peers(run, server.target(), static_cast<unsigned>(room) + run.peers);
  asking round(run, peers);
  round.listen(room, 10s);
  good.enter_phase(load_phase::beside_peers);
  round.listen(~std::size_t{0}, run.window);
  good.enter_phase(load_phase::paused);
  const double cpu = server.busiest_while(
      [&] { round.listen(~std::size_t{0}, std::max<std::chrono::nanoseconds>(run.window, 200ms)); });
  found.most_cpu = std::max(found.most_cpu, cpu);
  found.expected_at_limit += room;
  found.served_at_limit += round.count(fate::answered);
  found.waiting += round.count(fate::waiting);

  const auto freed = now_ns();
  leave(peers, round, run.peers);
  round.listen(peers.size(), 5s);
  const auto last = std::max(round.last_reply_ns(), freed);
  found.worst_delay_ms = std::max(found.worst_delay_ms, static_cast<double>(last - freed) / 1e6);
  found.served_afterwards += round.count(fate::answered);
  found.closed += round.count(fate::closed);
  found.wrong += round.count(fate::wrong);
  reset_all(peers);
}

void tell(const stress_run& run, const waiting_found& found) {
  const auto whole = [](std::size_t n) { return static_cast<double>(n); };
  const std::size_t waiting = std::size_t{run.peers} * run.settings.rounds;
  findings& f = run.found;
  f.exactly("served_at_limit", "peers served when its descriptors were used up", whole(found.served_at_limit),
            whole(found.expected_at_limit));
  f.exactly("waiting", "peers that waited then", whole(found.waiting), whole(waiting));
  f.exactly("closed", "peers that the server has closed", whole(found.closed), 0);
  f.exactly("wrong", "peers that were answered falsely", whole(found.wrong), 0);
  f.at_most("accepting_cpu_percent", "CPU of the busiest thread meanwhile, the accepting one or another",
            100 * found.most_cpu, 5, "%");
  f.exactly("served_afterwards", "peers served once others had left", whole(found.served_afterwards),
            whole(found.expected_at_limit + waiting));
  f.at_most("accepted_after_ms", "the last of them after", found.worst_delay_ms, 100, "ms");
}

}  // namespace

void stress_descriptors(stress_run& run) {
  server_under_stress server(run, {"--files", std::to_string(server_files)});
  good_client good(run, server.target(), 4, 500);
  waiting_found found;
  for (unsigned round = 1; round <= run.settings.rounds; ++round) {
    good.begin_round();
    const std::size_t before = server.descriptors();
    have_too_many(run, server, good, found);
    run.wait(10s, [&] { return server.descriptors() <= before; });
  }
  tell(run, found);
  good.report(0);
  (void)server.stop();
}

}  // namespace quintet::bench
