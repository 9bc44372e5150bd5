// SPDX-License-Identifier: BSL-1.0
// resets.cpp: opens and resets connections as fast as the machine
// allows. Afterwards the server must be in its earlier state.
#include "load/connect.hpp"
#include "stress/asking.hpp"
#include "stress/good_client.hpp"
#include "stress/peers.hpp"
#include "stress/server_under_stress.hpp"

#include <fmt/core.h>
#include <sys/socket.h>

#include "load/report.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

constexpr unsigned clients_afterwards = 100;

std::size_t serve_some(const stress_run& run, const server_under_stress& server) {
  auto clients = open_peers(run, server.target(), clients_afterwards);
  asking round(run, clients);
  round.listen(clients.size(), 10s);
  const std::size_t answered = round.count(fate::answered);
  clients.clear();
  return answered;
}

/// The server notices the close of its last clients a moment later, so wait.
std::size_t settled_descriptors(const stress_run& run, server_under_stress& server, std::size_t expected) {
  run.wait(10s, [&] { return server.descriptors() <= expected; });
  return server.descriptors();
}

/// Every other connection sends a request first, so that the server meets resets before, in and after a reply.
double open_and_reset(const stress_run& run, const server_under_stress& server) {
  const message_pattern pattern(request_bytes);
  char request[request_bytes];
  std::uint64_t done = 0;
  auto told = now_ns();
  const auto begun = told;
  open_each(run, server.target(), run.peers, [&](unique_fd fd) {
    if (++done % 2 == 0) {
      request_stream(pattern, request_bytes, static_cast<std::uint32_t>(done), 0).produce(0, request, request_bytes);
      (void)::send(fd.get(), request, request_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    close_with_reset(fd);
    if (now_ns() - told < 5'000'000'000) return;
    told = now_ns();
    run.progress(fmt::format("{} of {} connections reset", with_commas(done), with_commas(run.peers)));
  });
  return static_cast<double>(now_ns() - begun) / 1e9;
}

}  // namespace

void stress_resets(stress_run& run) {
  server_under_stress server(run);
  const std::size_t at_first = server.descriptors();
  if (serve_some(run, server) != clients_afterwards)
    throw run_error("the server does not answer, even before the resets");
  const std::size_t before = settled_descriptors(run, server, at_first);
  const double resident_before = server.resident_bytes();

  double seconds = 0;
  {
    good_client good(run, server.target(), 4, 1000);
    good.enter_phase(load_phase::alone);
    run.wait(run.window);
    good.enter_phase(load_phase::beside_peers);
    seconds = open_and_reset(run, server);
    good.report(0);
  }
  server.check();
  run.found.tell("resets", "connections opened and reset", run.peers);
  run.found.tell("resets_per_s", "of them in a second", run.peers / seconds);

  const auto waits_since = now_ns();
  const std::size_t after = settled_descriptors(run, server, before);
  run.found.tell("descriptors_before", "open descriptors of the server before", static_cast<double>(before));
  run.found.exactly("descriptors_after", "and after", static_cast<double>(after), static_cast<double>(before));
  run.found.tell("settled_after_ms", "after this time", static_cast<double>(now_ns() - waits_since) / 1e6, "ms");
  run.found.exactly("served_after", "of the next 100 clients were served", static_cast<double>(serve_some(run, server)),
                    clients_afterwards);
  run.found.tell("rss_growth_mib", "growth of the server's memory",
                 (server.resident_bytes() - resident_before) / 1048576, "MiB");
  const auto counters = server.stop();
  run.found.tell("refused", "connections refused (model 1: no more threads)",
                 counters.at("refused").to_number<double>());
}

}  // namespace quintet::bench
