// SPDX-License-Identifier: BSL-1.0
// short_client.cpp: many concurrent short connections on one thread: connect, one request, its reply, close.
#include "load/clients.hpp"
#include "load/connect.hpp"
#include "load/epoll_set.hpp"
#include "load/exchanges.hpp"
#include "load/source_spread.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace quintet::bench {
namespace {

constexpr unsigned give_up_after = 1000;  ///< consecutive failures after which the server counts as gone

template <class Exchange>
class short_client final : public worker {
 public:
  short_client(control& c, unsigned first, unsigned step)
      : worker(c),
        epoll_(static_cast<std::uint64_t>(c.settings.spin.count())),
        first_(first),
        step_(step),
        sources_(c, first) {
    for (unsigned i = first; i < c.settings.work.connections; i += step) {
      idle_.push_back(static_cast<unsigned>(slots_.size()));
      slots_.push_back({unique_fd(), Exchange(c, i), 0, 0});
      out_.resize(slots_.back().what.request_bytes());
    }
    in_.resize(std::max<std::size_t>(4096, c.settings.work.message_bytes + 1));  // one byte more, to detect a surplus
  }

  void run() override {
    begin();
    while (in_a_row_ < give_up_after && !drained()) {
      if (control_.at() != phase::draining) start_idle();
      for (const epoll_event& e : epoll_.wait(wait_ns())) handle(slots_[e.data.u32]);
    }
    for (const slot& s : slots_) {
      if (s.fd) tally_.fail(1, "no reply by the end");
    }
    const auto end = control_.to_ns.load();
    if (!control_.open_loop() || end == never_ns) return;
    for (; turn_due_ns() < end; ++turns_) ++tally_.due_not_sent;
  }

 private:
  struct slot {
    unique_fd fd;
    Exchange what;
    std::uint64_t begun_ns;
    std::size_t sent;
  };

  std::uint32_t number_of(const slot& s) const { return static_cast<std::uint32_t>(&s - slots_.data()); }
  std::uint64_t turn_due_ns() const { return control_.due_ns(first_ + turns_ * step_); }

  void start_idle() {
    while (!idle_.empty() && in_a_row_ < give_up_after) {
      const auto now = now_ns();
      const auto due = control_.open_loop() ? turn_due_ns() : now;
      if (due > now) return;
      ++turns_;
      const unsigned index = idle_.back();
      idle_.pop_back();
      slots_[index].begun_ns = due;
      start(slots_[index], index);
    }
  }

  void start(slot& s, unsigned index) {
    s.sent = 0;
    s.fd = start_connect(control_.target, sources_.next());
    if (!s.fd) return fail(s, std::strerror(errno));
    // On loopback the connection is established by now, so the request is sent without waiting for EPOLLOUT.
    if (!send(s)) return;
    epoll_.add(s.fd.get(), s.sent == out_.size() ? EPOLLIN : EPOLLOUT, index);
  }

  /// Returns false if the connection failed.
  bool send(slot& s) {
    s.what.produce(s.sent, out_.data(), out_.size() - s.sent);
    const ssize_t n = ::send(s.fd.get(), out_.data(), out_.size() - s.sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
      fail(s, std::strerror(errno));
      return false;
    }
    if (n > 0) s.sent += static_cast<std::size_t>(n);
    return true;
  }

  void handle(slot& s) {
    if (s.sent < out_.size()) {
      if (!send(s) || s.sent < out_.size()) return;
      epoll_.modify(s.fd.get(), EPOLLIN, number_of(s));
      return;
    }
    const ssize_t n = ::recv(s.fd.get(), in_.data(), in_.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n < 0) return fail(s, std::strerror(errno));
    last_arrival_ = now_ns();
    const char* const wrong = n == 0 ? s.what.take_end() : s.what.take({in_.data(), static_cast<std::size_t>(n)});
    if (wrong != nullptr) return fail(s, wrong);
    if (n == 0 || s.what.complete()) succeed(s);
  }

  void succeed(slot& s) {
    in_a_row_ = 0;
    tally_.succeed(control_, s.begun_ns, last_arrival_);
    finish(s);
  }

  void fail(slot& s, const char* why) {
    ++in_a_row_;
    tally_.fail(1, why);
    finish(s);
  }

  void finish(slot& s) {
    s.what.next();
    if (control_.settings.close_by_reset && s.fd) close_with_reset(s.fd);
    s.fd.reset();
    idle_.push_back(number_of(s));
  }

  std::uint64_t wait_ns() const {
    if (!control_.open_loop() || control_.at() == phase::draining || idle_.empty()) return idle_wait_ns;
    return wait_before(turn_due_ns());
  }

  bool drained() const {
    if (control_.at() != phase::draining) return false;
    return idle_.size() == slots_.size() || patience_is_over();
  }

  epoll_set epoll_;
  unsigned first_;
  unsigned step_;
  source_spread sources_;
  std::vector<slot> slots_;
  std::vector<unsigned> idle_;
  std::uint64_t turns_ = 0;  ///< open loop: requests of this thread that have been scheduled so far
  unsigned in_a_row_ = 0;
  std::vector<char> in_;
  std::vector<char> out_;
};

}  // namespace

std::unique_ptr<worker> make_short_client(control& c, unsigned first, unsigned step) {
  if (c.settings.http) return std::make_unique<short_client<http_exchange>>(c, first, step);
  return std::make_unique<short_client<echo_exchange>>(c, first, step);
}

}  // namespace quintet::bench
