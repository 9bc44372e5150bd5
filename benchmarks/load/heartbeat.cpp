// SPDX-License-Identifier: BSL-1.0
// heartbeat.cpp: a probe that measures every 10 ms how fast the server answers.
#include "load/blocking_io.hpp"
#include "load/clients.hpp"
#include "load/connect.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace quintet::bench {
namespace {

class heartbeat final : public worker {
 public:
  explicit heartbeat(control& c)
      : worker(c), stream_(c.requests_of(heartbeat_connection, 1)), buffer_(c.settings.work.message_bytes) {}

  void run() override {
    control_.heartbeat_is_real_time = prefer_this_thread();
    const auto patience_ms = static_cast<int>(control_.patience().count() / 1'000'000);
    fd_ = connect_blocking(control_.heartbeat_target, patience_ms);
    if (!fd_) tally_.fail(1, std::string("heartbeat: ") + std::strerror(errno));
    begin();
    constexpr std::uint64_t interval = std::chrono::nanoseconds(heartbeat_interval).count();
    // A late reply does not shift the schedule: delayed beats are sent at once and count from their scheduled time.
    for (auto due = now_ns() + interval; fd_ && wait_until(due); due += interval) beat(due);
  }

 private:
  /// Keeps the probe's own wake-up delay out of its latencies, as
  /// the load keeps the CPU busy. Needs privileges: best effort.
  static bool prefer_this_thread() {
    ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    const sched_param first{.sched_priority = 1};
    return ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &first) == 0;
  }

  /// Returns false after the window. Beats scheduled within the window are sent even after its end.
  bool wait_until(std::uint64_t due) const {
    if (due >= control_.to_ns.load(std::memory_order_relaxed)) return false;
    sleep_until(due);
    return due < control_.to_ns.load(std::memory_order_relaxed);
  }

  void beat(std::uint64_t due) {
    stream_.produce(position_, buffer_.data(), buffer_.size());
    if (!send_whole(fd_, {buffer_.data(), buffer_.size()})) return lose("heartbeat: cannot send");
    if (receive_whole(fd_, buffer_) != buffer_.size()) return lose("heartbeat: no reply");
    const auto now = now_ns();
    if (!stream_.matches(position_, {buffer_.data(), buffer_.size()})) tally_.fail(1, "heartbeat: wrong bytes");
    position_ += buffer_.size();
    if (due < control_.from_ns.load(std::memory_order_relaxed)) return;
    tally_.requests.add(1);
    tally_.latencies.record(now - due);
  }

  void lose(const char* why) {
    tally_.fail(1, why);
    fd_.reset();
  }

  request_stream stream_;
  std::vector<char> buffer_;
  unique_fd fd_;
  std::uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<worker> make_heartbeat(control& c) { return std::make_unique<heartbeat>(c); }

}  // namespace quintet::bench
