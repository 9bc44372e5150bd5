// SPDX-License-Identifier: BSL-1.0
// flood.cpp: two clients open twice as many connections as the server takes, as fast as they can. Connections without
// room wait, and are served after others have left.
#include "stress/flood.hpp"

#include "load/connect.hpp"
#include "stress/good_client.hpp"
#include "stress/peers.hpp"
#include "stress/server_under_stress.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

constexpr unsigned good_connections = 4;
constexpr std::uint64_t look_around_ns = 20'000'000;

}  // namespace

flood_client::flood_client(const socket_address& to, unsigned peers, unsigned number)
    : to_(to), number_(number), peers_(peers), thread_([this](const std::stop_token& stop) { work(stop); }) {}

void flood_client::work(const std::stop_token& stop) {
  connect_all(stop);
  bool were_leaving = false;
  while (!stop.stop_requested()) {
    poll_events(look_around_ns);
    if (leaving_ && !std::exchange(were_leaving, true))
      for (peer& p : peers_)
        if (p.is_answered) p.fd.reset();  // with a FIN, as clients do
  }
  for (peer& p : peers_)
    if (p.fd) close_with_reset(p.fd);
}

void flood_client::connect_all(const std::stop_token& stop) {
  for (std::uint32_t i = 0; i < peers_.size() && !stop.stop_requested(); ++i) {
    peers_[i].fd = start_connect(to_, source_of(std::uint64_t{2} * i + number_));
    if (!peers_[i].fd) {
      ++failed_;
      continue;
    }
    ready_.add(peers_[i].fd.get(), EPOLLIN | EPOLLOUT, i);
    if (i % 64 == 0) poll_events(0);
  }
}

void flood_client::poll_events(std::uint64_t ns) {
  for (const epoll_event& e : ready_.wait(ns))
    if (peers_[e.data.u32].fd) handle_event(e.data.u32);
}

void flood_client::handle_event(std::uint32_t index) {
  peer& p = peers_[index];
  if (p.is_connected) return receive(index);
  if (connect_error(p.fd) != 0) return fail(p);
  p.is_connected = true;
  ready_.modify(p.fd.get(), EPOLLIN, index);
  ask(index);
}

void flood_client::ask(std::uint32_t index) {
  std::array<char, request_bytes> request{};
  request_stream(pattern_, request_bytes, index, number_).produce(0, request.data(), request.size());
  if (::send(peers_[index].fd.get(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(request.size()))
    fail(peers_[index]);
}

void flood_client::receive(std::uint32_t index) {
  peer& p = peers_[index];
  std::array<char, 2 * request_bytes> buffer{};
  const ssize_t n = ::recv(p.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const auto length = static_cast<std::uint32_t>(std::max<ssize_t>(n, 0));
  const request_stream wanted(pattern_, request_bytes, index, number_);
  if (n <= 0 || p.received + length > request_bytes || !wanted.matches(p.received, {buffer.data(), length}))
    return fail(p);
  p.received += length;
  if (p.received < request_bytes) return;
  p.is_answered = true;
  ++answered_;
  if (leaving_) p.fd.reset();
}

// A connection that the server closes after its reply has failed as well.
void flood_client::fail(peer& p) {
  if (p.is_answered) --answered_;
  p.is_answered = false;
  ++failed_;
  p.fd.reset();
}

namespace {

struct two_clients {
  two_clients(const socket_address& to, unsigned peers) : first(to, peers / 2, 0), second(to, peers - peers / 2, 1) {}
  [[nodiscard]] std::size_t answered() const { return first.answered() + second.answered(); }
  [[nodiscard]] std::size_t failed() const { return first.failed() + second.failed(); }
  flood_client first, second;
};

struct flood_found {
  std::size_t at_limit = 0, afterwards = 0, failed = 0;
  double most_cpu = 0;  // of the busiest thread, as a fraction of a CPU
};

void be_flooded(const stress_run& run, server_under_stress& server, good_client& good, std::size_t expected,
                flood_found& found) {
  good.enter_phase(load_phase::changing);
  const std::size_t before = server.descriptors();
  two_clients clients(server.target(), run.peers);
  run.wait(20s, [&] { return clients.answered() >= expected; });
  good.enter_phase(load_phase::beside_peers);
  run.wait(run.window);
  found.at_limit += clients.answered();
  good.enter_phase(load_phase::paused);
  run.wait(200ms);
  const double cpu = server.busiest_while([&] { run.wait(std::max<std::chrono::nanoseconds>(run.window, 200ms)); });
  found.most_cpu = std::max(found.most_cpu, cpu);
  good.enter_phase(load_phase::changing);
  clients.first.leave();
  clients.second.leave();
  run.wait(60s, [&] { return clients.answered() + clients.failed() >= run.peers; });
  server.check();
  found.afterwards += clients.answered();
  found.failed += clients.failed();
  run.wait(10s, [&] { return server.descriptors() <= before; });
}

}  // namespace

void stress_flood(stress_run& run) {
  const unsigned room = std::max(run.peers / 2, 2 * good_connections);
  server_under_stress server(run, {"--max-connections", std::to_string(room), "--files", std::to_string(room + 1000),
                                   "--max-threads", std::to_string(room + 100)});
  good_client good(run, server.target(), good_connections, 500);
  flood_found found;
  for (unsigned round = 1; round <= run.settings.rounds; ++round) {
    good.begin_round();
    be_flooded(run, server, good, room - good_connections, found);
  }
  const auto whole = [](std::size_t n) { return static_cast<double>(n); };
  findings& f = run.found;
  f.exactly("served_at_limit", "peers served when it had max_connections", whole(found.at_limit),
            whole(run.settings.rounds * (room - good_connections)));
  f.at_most("accepting_cpu_percent", "CPU of the busiest thread while the others waited", 100 * found.most_cpu, 5, "%");
  f.exactly("failed", "peers refused, closed by the server, or answered falsely", whole(found.failed), 0);
  f.exactly("served_afterwards", "peers served in the end", whole(found.afterwards),
            whole(run.settings.rounds * run.peers));
  good.report(0);
  (void)server.stop();
}

}  // namespace quintet::bench
