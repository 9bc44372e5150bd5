// SPDX-License-Identifier: BSL-1.0
// slow_writers.cpp: peers that send one byte a second of an endless message. The server must close each at its
// deadline, and serve others as if these peers did not exist.
#include "stress/asking.hpp"
#include "stress/good_client.hpp"
#include "stress/peers.hpp"
#include "stress/server_under_stress.hpp"

#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace quintet::bench {
namespace {

constexpr std::uint64_t interval_ns = 1'000'000'000;

struct slow_writers_found {
  std::size_t closed = 0, too_early = 0;
  double worst_overrun = -1;  ///< as a fraction of the deadline
};

/// One group of slow writers, from their first byte until the last one is closed.
class slow_writer_group {
 public:
  slow_writer_group(const stress_run& run, std::vector<unique_fd> peers, slow_writers_found& found)
      : run_(run), peers_(std::move(peers)), found_(found), begun_(peers_.size(), never_ns) {
    for (std::uint32_t i = 0; i < peers_.size(); ++i) ready_.add(peers_[i].get(), EPOLLIN, i);
  }

  void stay() {
    const auto deadline = static_cast<std::uint64_t>(run_.settings.deadline.count());
    const auto begin = now_ns(), give_up = begin + 2 * deadline + interval_ns;
    std::uint64_t sent = 0;
    for (auto now = begin; left_ > 0 && now < give_up; now = now_ns()) {
      // Evenly over the second: peer i sends at i / n of each.
      for (; begin + sent * interval_ns / peers_.size() <= now; ++sent) send_byte(sent % peers_.size());
      const auto next = begin + sent * interval_ns / peers_.size();
      for (const epoll_event& e : ready_.wait(next > now ? next - now : 0)) look_at(e.data.u32);
      run_.check_time();
    }
    reset_all(peers_);
  }

 private:
  void send_byte(std::size_t peer) {
    if (!peers_[peer]) return;
    if (begun_[peer] == never_ns) begun_[peer] = now_ns();
    (void)::send(peers_[peer].get(), "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);  // epoll reports a close meanwhile
  }

  void look_at(std::uint32_t peer) {
    char byte;
    const ssize_t n = ::recv(peers_[peer].get(), &byte, 1, MSG_DONTWAIT);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return;
    const double deadline = static_cast<double>(run_.settings.deadline.count());
    // Without a first byte there was no deadline, so this close is too early.
    const double lasted = begun_[peer] == never_ns ? 0 : static_cast<double>(now_ns() - begun_[peer]);
    const double overrun = lasted / deadline - 1;
    ++found_.closed;
    found_.too_early += overrun < -0.1 ? 1 : 0;
    found_.worst_overrun = std::max(found_.worst_overrun, overrun);
    --left_;
    peers_[peer].reset();
  }

  const stress_run& run_;
  std::vector<unique_fd> peers_;
  slow_writers_found& found_;
  std::vector<std::uint64_t> begun_;
  std::size_t left_ = peers_.size();
  epoll_set ready_;
};

}  // namespace

void stress_slow_writers(stress_run& run) {
  const double seconds = std::chrono::duration<double>(run.settings.deadline).count();
  server_under_stress server(run, {"--message-timeout", fmt::format("{}", seconds)});
  good_client good(run, server.target(), 8, 1000);
  slow_writers_found found;
  for (unsigned round = 1; round <= run.settings.rounds; ++round) {
    good.begin_round();
    good.enter_phase(load_phase::beside_peers);
    slow_writer_group(run, open_peers(run, server.target(), run.peers), found).stay();
    server.check();
  }
  const double all = static_cast<double>(run.peers) * run.settings.rounds;
  run.found.exactly("closed", "slow writers that the server has closed", static_cast<double>(found.closed), all);
  run.found.exactly("closed_too_early", "of them more than 10 % before their deadline",
                    static_cast<double>(found.too_early), 0);
  run.found.at_most("worst_overrun_percent", fmt::format("worst overrun of the deadline of {} s", number_text(seconds)),
                    100 * found.worst_overrun, 10, "%");
  good.report(2);
  (void)server.stop();
}

}  // namespace quintet::bench
