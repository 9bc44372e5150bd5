// SPDX-License-Identifier: BSL-1.0
// epoll_client.cpp: many connections on one thread, with one receive and one send for each readable one.
#include "load/clients.hpp"
#include "load/connect.hpp"
#include "load/conversation.hpp"
#include "load/epoll_set.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace quintet::bench {
namespace {

constexpr std::size_t buffer_bytes = 256 * 1024;

class epoll_client final : public worker {
 public:
  epoll_client(control& c, unsigned first, unsigned step)
      : worker(c), epoll_(static_cast<std::uint64_t>(c.settings.spin.count())), first_(first), step_(step) {
    const unsigned count = c.settings.work.connections;
    for (unsigned i = first; i < count; i += step) links_.push_back({unique_fd(), conversation(c, i, count), 0});
  }

  void run() override {
    connect_all();
    begin();
    for (link& l : links_) send(l, now_ns());
    while (open_ != 0 && !drained()) {
      for (const epoll_event& e : epoll_.wait(control_.open_loop() ? wait_before(slot_due_ns()) : idle_wait_ns))
        handle(e);
      if (control_.open_loop()) send_due();
    }
    for (link& l : links_) close_at_end(l);
  }

 private:
  struct link {
    unique_fd fd;
    conversation talk;
    std::uint32_t watched;  ///< epoll's event mask; 0: not registered
  };

  void connect_all();
  void connected(link& l);

  void watch(link& l, std::uint32_t mask) {
    if (l.watched == mask) return;
    const auto number = static_cast<std::uint32_t>(&l - links_.data());
    if (l.watched == 0)
      epoll_.add(l.fd.get(), mask, number);
    else
      epoll_.modify(l.fd.get(), mask, number);
    l.watched = mask;
  }

  void handle(const epoll_event& e) {
    link& l = links_[e.data.u32];
    if (!l.fd) return;
    if ((e.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0)
      receive(l);
    else
      send(l, now_ns());
  }

  void receive(link& l) {
    const ssize_t n = ::recv(l.fd.get(), in_.get(), buffer_bytes, MSG_DONTWAIT);
    if (n <= 0) {
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
      return lose(l, n == 0 ? "the server closed the connection" : std::strerror(errno));
    }
    last_arrival_ = now_ns();
    if (!l.talk.note_received({in_.get(), static_cast<std::size_t>(n)}, last_arrival_, tally_)) return drop(l);
    send(l, last_arrival_);
  }

  void send(link& l, std::uint64_t now) {
    while (l.fd) {
      const std::size_t length = l.talk.produce(out_.get(), buffer_bytes, now);
      if (length == 0) return watch(l, EPOLLIN);
      const ssize_t n = ::send(l.fd.get(), out_.get(), length, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno != EAGAIN) return lose(l, std::strerror(errno));
      if (n > 0) l.talk.note_sent(static_cast<std::size_t>(n), now);
      if (n < static_cast<ssize_t>(length)) return watch(l, EPOLLIN | EPOLLOUT);
      if (length < buffer_bytes) return watch(l, EPOLLIN);  // all bytes that were allowed have been sent
    }
  }

  /// Open loop: returns the time of the next slot. This thread's connections take turns.
  std::uint64_t slot_due_ns() const {
    const auto link_in_turn = slot_ % links_.size();
    return control_.due_ns(first_ + link_in_turn * step_ + slot_ / links_.size() * control_.settings.work.connections);
  }

  /// Sends scheduled requests. A connection whose depth is used up sends after its next reply instead.
  void send_due() {
    for (const auto now = now_ns(); slot_due_ns() <= now; ++slot_) send(links_[slot_ % links_.size()], now);
  }

  void lose(link& l, const char* why) {
    const auto lost = l.talk.outstanding();
    if (lost != 0 || control_.at() != phase::draining) tally_.fail(std::max<std::uint64_t>(lost, 1), why);
    drop(l);
  }

  void drop(link& l) {
    l.fd.reset();
    --open_;
  }

  bool drained() const {
    if (control_.at() != phase::draining) return false;
    if (patience_is_over()) return true;
    return std::none_of(links_.begin(), links_.end(), [](const link& l) { return l.fd && l.talk.outstanding() != 0; });
  }

  /// Closes a connection at the end of the run. Requests without a reply count as failed.
  void close_at_end(link& l) {
    if (control_.open_loop()) tally_.due_not_sent += l.talk.due_not_sent(control_.to_ns);
    if (l.fd && l.talk.outstanding() != 0) tally_.fail(l.talk.outstanding(), "no reply by the end");
    l.fd.reset();
  }

  epoll_set epoll_;
  std::vector<link> links_;
  std::size_t open_ = 0;
  unsigned first_;
  unsigned step_;
  std::uint64_t slot_ = 0;  ///< open loop: turns of its connections that have passed
  std::unique_ptr<char[]> in_ = std::make_unique<char[]>(buffer_bytes);
  std::unique_ptr<char[]> out_ = std::make_unique<char[]>(buffer_bytes);
};

/// Connects in small groups: the server's backlog is bounded, and a dropped SYN costs a second.
void epoll_client::connect_all() {
  constexpr std::size_t at_once = 64;
  constexpr std::uint64_t give_up_ns = 10'000'000'000;
  std::size_t next = 0;
  std::size_t pending = 0;
  std::uint64_t last_progress = now_ns();
  while ((next < links_.size() || pending != 0) && control_.at() == phase::connecting) {
    for (; next < links_.size() && pending < at_once; ++next) {
      link& l = links_[next];
      l.fd = start_connect(control_.target);
      if (!l.fd) {
        tally_.fail(1, std::strerror(errno));
        continue;
      }
      watch(l, EPOLLOUT);
      ++pending;
    }
    for (const epoll_event& e : epoll_.wait(100'000'000)) {
      connected(links_[e.data.u32]);
      --pending;
      last_progress = now_ns();
    }
    if (now_ns() - last_progress > give_up_ns) break;
  }
  for (link& l : links_) {
    if (!l.fd || l.watched == EPOLLIN) continue;
    l.fd.reset();
    if (control_.at() == phase::connecting) tally_.fail(1, "connecting took too long");
  }
}

void epoll_client::connected(link& l) {
  if (const int error = connect_error(l.fd); error != 0) {
    tally_.fail(1, std::strerror(error));
    return l.fd.reset();
  }
  watch(l, EPOLLIN);
  ++open_;
}

}  // namespace

std::unique_ptr<worker> make_epoll_client(control& c, unsigned first, unsigned step) {
  return std::make_unique<epoll_client>(c, first, step);
}

}  // namespace quintet::bench
