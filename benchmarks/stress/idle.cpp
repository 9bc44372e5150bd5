// SPDX-License-Identifier: BSL-1.0
// idle.cpp: very many connections that send one request and stay, beside some active ones. Model 1 has a limited number
// of threads and must refuse further connections at once.
#include "stress/good_client.hpp"
#include "stress/peer_group.hpp"
#include "stress/server_under_stress.hpp"

#include "load/report.hpp"
#include "options.hpp"
#include "report/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

constexpr unsigned active_connections = 100;
constexpr unsigned active_per_s = 5000;

struct idle_found {
  std::size_t answered = 0, closed = 0, others = 0;
  double bytes_each = 0;
  std::size_t most_threads = 0;
};

/// Returns one table, or more if the peers need them.
unsigned tables_for(const stress_run& run) {
  if (!run.settings.own_descriptors) return 1;
  const std::size_t others = std::min<std::size_t>(1000, most_files() / 2);
  return 1 + run.peers / static_cast<unsigned>(most_files() - others);
}

void have_idle_ones(const stress_run& run, server_under_stress& server, good_client& active, idle_found& found,
                    bool first) {
  const double before = server.resident_bytes();
  active.enter_phase(load_phase::changing);
  peer_group peers(run, server.target(), run.peers, tables_for(run));
  peers.connect_and_ask(30s + std::chrono::milliseconds(run.peers));
  const double after = server.resident_bytes();
  found.most_threads = std::max(found.most_threads, server.threads());
  active.enter_phase(load_phase::beside_peers);
  peers.watch(run.window);
  active.enter_phase(load_phase::changing);
  const std::size_t answered = peers.count(fate::answered);
  if (first) found.bytes_each = (after - before) / static_cast<double>(std::max<std::size_t>(answered, 1));
  found.answered += answered;
  found.closed += peers.count(fate::closed);
  found.others += peers.count(fate::waiting) + peers.count(fate::wrong);
  peers.reset();
}

}  // namespace

void stress_idle(stress_run& run) {
  server_under_stress server(run);
  good_client active(run, server.target(), active_connections, active_per_s);
  idle_found found;
  for (unsigned round = 1; round <= run.settings.rounds; ++round) {
    active.begin_round();
    const std::size_t before = server.descriptors();  // includes the good client's, which is connected by now
    have_idle_ones(run, server, active, found, round == 1);
    run.wait(10s, [&] { return server.descriptors() <= before; });
  }
  active.report(0);
  const double all = static_cast<double>(run.peers) * run.settings.rounds;
  const double refused = server.stop().at("refused").to_number<double>();
  run.found.tell("idle", "idle connections at a time, opened " + with_commas(run.settings.rounds) + " times",
                 run.peers);
  run.found.exactly("idle_answered", "of all these were answered, and stayed open", static_cast<double>(found.answered),
                    all - refused);
  run.found.exactly("idle_refused", "were refused, and told so at once by a close", static_cast<double>(found.closed),
                    run.model == "thread_per_connection" ? refused : 0);
  run.found.exactly("idle_unanswered", "were neither answered nor refused", static_cast<double>(found.others), 0);
  if (refused > 0)
    run.found.remark(
        fmt::format("refused at the limit of threads: the server had {} of them", with_commas(found.most_threads)));
  run.found.tell("rss_per_idle_bytes", "memory of the server for each idle connection", found.bytes_each, "B");
  if (refused == 0) run.found.remark("that would be " + forecast(found.bytes_each) + ", and the kernel's own on top");
}

}  // namespace quintet::bench
