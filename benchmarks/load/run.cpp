// SPDX-License-Identifier: BSL-1.0
// run.cpp: starts the client's threads, moves them from phase to phase, and adds up their findings.
#include "load/run.hpp"

#include "load/circumstances.hpp"
#include "load/clients.hpp"
#include "load/connect.hpp"
#include "load/control.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace quintet::bench {
namespace {

class coordinator {
 public:
  coordinator(const load_settings& s, const load_observer& o) : control_(s), observer_(o) {
    control_.target = resolve(s.target);
    if (s.heartbeat) control_.heartbeat_target = resolve(*s.heartbeat);
    // Short connections begin only with the load, so test first whether a server listens.
    if (s.work.short_connections && !connect_blocking(control_.target, 1000)) refuse(std::strerror(errno));
    make_workers(s);
  }
  coordinator(const coordinator&) = delete;
  coordinator& operator=(const coordinator&) = delete;
  ~coordinator() { move_to(phase::draining); }  // lets the threads end after an exception

  load_result run() {
    for (const auto& w : workers_) threads_.emplace_back([this, &w] { run_worker(*w); });
    wait_until_connected();
    control_.schedule_start_ns = now_ns();
    if (!stopped_ && anybody_connected()) {
      move_to(phase::warming);
      stay(phase::warming, control_.settings.warm_up);
      measure();
    }
    move_to(phase::draining);
    threads_.clear();
    return add_up();
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::runtime_error(fmt::format("cannot connect to {}: {}", to_string(control_.settings.target), why));
  }

  void make_workers(const load_settings& s) {
    const unsigned connections = s.work.connections;
    const unsigned threads = s.client == client_kind::blocking ? connections : std::min(s.threads, connections);
    for (unsigned i = 0; i < threads; ++i) {
      if (s.client == client_kind::blocking)
        workers_.push_back(make_blocking_client(control_, i));
      else if (s.client == client_kind::shared_memory)
        workers_.push_back(make_shm_client(control_, i, threads));
      else if (s.work.short_connections)
        workers_.push_back(make_short_client(control_, i, threads));
      else
        workers_.push_back(make_epoll_client(control_, i, threads));
    }
    if (s.heartbeat) {
      workers_.push_back(make_heartbeat(control_));
      heartbeat_ = workers_.back().get();
    }
    const auto cpus = s.cpus.empty() ? allowed_cpus() : s.cpus;
    result_.busy_limit = std::max(1u, std::min(threads, static_cast<unsigned>(cpus.size())));
  }

  void run_worker(worker& w) {
    pin_thread(control_.settings.cpus);
    w.run();
    control_.ended.fetch_add(1);
  }

  void move_to(phase p) {
    control_.now.store(p, std::memory_order_release);
    control_.now.notify_all();
  }

  /// Waits until `until`, or until the caller requests a stop.
  void wait(std::uint64_t until) {
    const auto now = now_ns();
    if (stopped_ || now >= until) return;
    pollfd stop{.fd = observer_.stop_fd, .events = POLLIN, .revents = 0};
    const timespec timeout = to_timespec(until - now);
    if (::ppoll(&stop, 1, &timeout, nullptr) > 0) stopped_ = true;
  }

  void wait_until_connected() {
    while (!stopped_ && control_.ready < workers_.size()) wait(now_ns() + 1'000'000);
  }

  /// Returns false if no thread of the load has a connection. Such threads have already reported their failures.
  bool anybody_connected() {
    for (const auto& w : workers_) {
      if (w.get() != heartbeat_ && w->found().failed.value() == 0) return true;
    }
    return total_failed() < control_.settings.work.connections;
  }

  void stay(phase p, std::chrono::nanoseconds length) {
    const auto begin = now_ns();
    const auto end = begin + static_cast<std::uint64_t>(length.count());
    const auto interval = static_cast<std::uint64_t>(std::chrono::nanoseconds(observer_.progress_interval).count());
    for (auto next = begin + interval; !over(); next += interval) {
      wait(std::min(next, end));
      if (now_ns() >= end) break;
      if (observer_.progress && now_ns() >= next) observer_.progress(progress(p, begin, length));
    }
  }

  bool over() const { return stopped_ || control_.ended >= workers_.size() - (heartbeat_ != nullptr ? 1 : 0); }

  void measure() {
    circumstances around(control_.settings, control_.target);
    const double before = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    result_.measured_from_ns = now_ns();
    control_.from_ns = result_.measured_from_ns;
    move_to(phase::measuring);
    if (observer_.measuring) observer_.measuring();
    stay(phase::measuring, control_.settings.duration);
    control_.to_ns = result_.measured_to_ns = now_ns();
    move_to(phase::draining);
    result_.client_cpu_s = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
    around.fill(result_);
    if (observer_.measured) observer_.measured();
  }

  load_progress progress(phase p, std::uint64_t begin, std::chrono::nanoseconds length) const {
    load_progress now{.warming = p == phase::warming,
                      .seconds = static_cast<double>(now_ns() - begin) / 1e9,
                      .of_seconds = std::chrono::duration<double>(length).count()};
    for (const auto& w : workers_) now.requests += w.get() == heartbeat_ ? 0 : w->found().requests.value();
    now.failed = total_failed();
    return now;
  }

  std::uint64_t total_failed() const {
    std::uint64_t failed = 0;
    for (const auto& w : workers_) failed += w->found().failed.value();
    return failed;
  }

  load_result add_up() {
    for (const auto& w : workers_) {
      const tally& t = w->found();
      if (w.get() == heartbeat_) {
        result_.heartbeats = t.latencies;
        result_.heartbeat_is_real_time = control_.heartbeat_is_real_time;
        if (result_.first_failure.empty()) result_.first_failure = t.first_failure;
      } else {
        result_.add(t);
        result_.requests += t.requests.value();
      }
    }
    result_.failed = total_failed();
    result_.interrupted = stopped_;
    if (!result_.measured() && !stopped_) refuse(result_.first_failure);
    return result_;
  }

  control control_;
  const load_observer& observer_;
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<std::jthread> threads_;
  const worker* heartbeat_ = nullptr;
  load_result result_;
  bool stopped_ = false;
};

}  // namespace

load_result run_load(const load_settings& settings, const load_observer& observer) {
  return coordinator(settings, observer).run();
}

}  // namespace quintet::bench
