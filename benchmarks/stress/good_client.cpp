// SPDX-License-Identifier: BSL-1.0
// good_client.cpp: the schedule, the replies and the figures.
#include "stress/good_client.hpp"

#include "stress/peers.hpp"

#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

namespace quintet::bench {
namespace {

constexpr std::uint64_t patience_ns = 2'000'000'000;
constexpr std::chrono::milliseconds warm_up{200};

/// Keeps this thread's wake-ups from waiting for the threads of the other peers. Needs privileges: best effort.
void prefer_this_thread() {
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  const sched_param first{.sched_priority = 1};
  ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &first);
}

double us_at(const histogram& h, double percent) {
  return h.total() == 0 ? std::nan("") : static_cast<double>(h.percentile(percent)) / 1e3;
}

}  // namespace

good_client::good_client(const stress_run& run, const socket_address& to, unsigned connections, unsigned per_s)
    : run_(run), interval_ns_(1'000'000'000 / per_s), lines_(connections), rounds_(run.settings.rounds) {
  auto fds = open_peers(run, to, connections);
  for (std::uint32_t i = 0; i < connections; ++i) {
    ready_.add(fds[i].get(), EPOLLIN, i);
    lines_[i].fd = std::move(fds[i]);
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

void good_client::begin_round() {
  run_.progress(fmt::format("round {} of {}", begun_ + 1, rounds_.size()));
  enter_phase(load_phase::alone);
  run_.wait(run_.window);
}

void good_client::enter_phase(load_phase c) {
  if (c == load_phase::alone) {
    ++begun_;
    latencies_.store(&uncounted_);
    run_.wait(warm_up);
  }
  latencies_.store(latencies_in(c));
}

histogram* good_client::latencies_in(load_phase c) {
  switch (c) {
    case load_phase::alone:
      return &rounds_.at(begun_ - 1).alone;
    case load_phase::beside_peers:
      return &rounds_.at(begun_ - 1).beside;
    case load_phase::changing:
      return &uncounted_;
    case load_phase::paused:
      break;
  }
  return nullptr;
}

void good_client::work(const std::stop_token& stop) {
  prefer_this_thread();
  auto due = now_ns();
  std::uint64_t give_up = never_ns;
  for (auto now = due; now < give_up; now = now_ns()) {
    const bool asks = !stop.stop_requested() && latencies_.load() != nullptr;
    if (stop.stop_requested() && give_up == never_ns) give_up = now + patience_ns;
    if (stop.stop_requested() && !waiting()) return;
    if (!asks) due = now + interval_ns_;
    for (; asks && due <= now; due += interval_ns_) ask(due);
    for (const epoll_event& e : ready_.wait(due > now ? due - now : 0)) receive(e.data.u32);
  }
  for (line& l : lines_)
    if (!l.due.empty()) lose(l, "no reply within two seconds");
}

void good_client::ask(std::uint64_t due) {
  histogram* const latencies = latencies_.load();
  if (latencies == nullptr) return;
  const std::size_t index = next_++ % lines_.size();
  line& l = lines_[index];
  ++asked_;
  if (!l.fd) return;
  char request[request_bytes];
  request_stream(pattern_, request_bytes, static_cast<std::uint32_t>(index), 0).produce(l.sent, request, request_bytes);
  const ssize_t n = ::send(l.fd.get(), request, request_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n != static_cast<ssize_t>(request_bytes)) return lose(l, n < 0 ? std::strerror(errno) : "a short send");
  l.sent += request_bytes;
  l.due.push_back({due, latencies});
}

void good_client::receive(std::uint32_t index) {
  line& l = lines_[index];
  char buffer[64 * request_bytes];
  const ssize_t n = ::recv(l.fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return lose(l, n == 0 ? "the server closed the connection" : std::strerror(errno));
  const auto now = now_ns();
  const auto length = static_cast<std::size_t>(n);
  if (l.received + length > l.sent ||
      !request_stream(pattern_, request_bytes, index, 0).matches(l.received, {buffer, length}))
    return lose(l, "wrong bytes in a reply");
  l.received += length;
  for (; l.sent - l.received < l.due.size() * request_bytes; l.due.pop_front()) {
    ++answered_;
    l.due.front().latencies->record(now - l.due.front().due);
  }
}

void good_client::lose(line& l, std::string why) {
  if (first_failure_.empty()) first_failure_ = std::move(why);
  l.due.clear();
  l.fd.reset();
}

bool good_client::waiting() const {
  return std::any_of(lines_.begin(), lines_.end(), [](const line& l) { return !l.due.empty(); });
}

// The median: a disturbance of the machine spoils one round only.
double good_client::median_ratio() const {
  std::vector<double> ratios;
  for (const round& r : rounds_)
    if (r.alone.total() > 0 && r.beside.total() > 0) ratios.push_back(us_at(r.beside, 99) / us_at(r.alone, 99));
  if (ratios.empty()) return std::nan("");
  std::sort(ratios.begin(), ratios.end());
  return (ratios[(ratios.size() - 1) / 2] + ratios[ratios.size() / 2]) / 2;
}

void good_client::report(double most_ratio) {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  findings& f = run_.found;
  f.exactly("good_failed", "requests of the good client that were not answered",
            static_cast<double>(asked_ - answered_), 0);
  f.tell("good_answered", "requests of the good client that were answered", static_cast<double>(answered_));
  histogram alone, beside;
  for (const round& r : rounds_) {
    alone.merge(r.alone);
    beside.merge(r.beside);
  }
  f.tell("good_p50_idle_us", "its p50 without the others", us_at(alone, 50), "us");
  f.tell("good_p99_idle_us", "its p99 without the others", us_at(alone, 99), "us");
  f.tell("good_p50_us", "its p50 beside them", us_at(beside, 50), "us");
  f.tell("good_p99_us", "its p99 beside them", us_at(beside, 99), "us");
  f.tell("good_max_us", "its worst beside them", us_at(beside, 100), "us");
  const char* const label = "p99 beside them / p99 without, median of the rounds";
  if (most_ratio > 0)
    f.at_most("p99_ratio", label, median_ratio(), most_ratio);
  else
    f.tell("p99_ratio", label, median_ratio());
  if (!first_failure_.empty()) f.remark("the good client: " + first_failure_);
}

}  // namespace quintet::bench
