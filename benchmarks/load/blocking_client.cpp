// SPDX-License-Identifier: BSL-1.0
// blocking_client.cpp: one thread, one connection, blocking calls: a client without an event loop.
#include "load/blocking_io.hpp"
#include "load/clients.hpp"
#include "load/connect.hpp"
#include "load/conversation.hpp"
#include "load/exchanges.hpp"
#include "load/source_spread.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace quintet::bench {
namespace {

constexpr int call_timeout_ms = 100;  ///< delay until a thread notices a new phase if nothing arrives

class blocking_client final : public worker {
 public:
  blocking_client(control& c, unsigned index)
      : worker(c), talk_(c, index, c.settings.work.connections), sources_(c, index), index_(index) {
    buffer_.resize(std::max<std::size_t>(std::min<std::size_t>(c.settings.work.message_bytes, 64 * 1024), 4096));
  }

  void run() override {
    if (control_.settings.work.short_connections) return run_short();
    control_.connect_turns.acquire();
    fd_ = connect_blocking(control_.target, call_timeout_ms);
    control_.connect_turns.release();
    if (!fd_) tally_.fail(1, std::strerror(errno));
    begin();
    while (fd_ && !finished()) {
      wait_until_due(talk_.next_due_ns());
      if (send_allowed() && talk_.outstanding() != 0) receive();
    }
    if (control_.open_loop()) tally_.due_not_sent += talk_.due_not_sent(control_.to_ns);
  }

 private:
  bool finished() {
    if (control_.at() != phase::draining) return false;
    if (talk_.outstanding() == 0) return true;
    if (!patience_is_over()) return false;
    tally_.fail(talk_.outstanding(), "no reply by the end");
    return true;
  }

  /// Open loop with nothing in progress: waits until `due`, in short naps so that the thread notices a new phase.
  void wait_until_due(std::uint64_t due) {
    if (!control_.open_loop() || talk_.outstanding() != 0) return;
    for (auto now = now_ns(); now < due && control_.at() != phase::draining; now = now_ns())
      sleep_until(std::min<std::uint64_t>(due, now + call_timeout_ms * 1'000'000ull));
  }

  bool send_allowed() {
    for (;;) {
      const auto now = now_ns();
      const std::size_t length = talk_.produce(buffer_.data(), buffer_.size(), now);
      if (length == 0) return true;
      const ssize_t n = ::send(fd_.get(), buffer_.data(), length, MSG_NOSIGNAL);
      if (n > 0) talk_.note_sent(static_cast<std::size_t>(n), now);
      if (n < 0 && errno == EAGAIN) return true;  // the server may be waiting for the client to read
      if (n < 0 && errno != EINTR) return lose(std::strerror(errno));
    }
  }

  void receive() {
    const ssize_t n = ::recv(fd_.get(), buffer_.data(), buffer_.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      lose(n == 0 ? "the server closed the connection" : std::strerror(errno));
      return;
    }
    last_arrival_ = now_ns();
    if (!talk_.note_received({buffer_.data(), static_cast<std::size_t>(n)}, last_arrival_, tally_)) fd_.reset();
  }

  bool lose(const char* why) {
    tally_.fail(std::max<std::uint64_t>(talk_.outstanding(), 1), why);
    fd_.reset();
    return false;
  }

  void run_short();
  const char* one_request(echo_exchange& what);

  conversation talk_;
  source_spread sources_;
  unsigned index_;
  unique_fd fd_;
  std::vector<char> buffer_;
};

void blocking_client::run_short() {
  constexpr unsigned give_up_after = 100;
  const unsigned count = control_.settings.work.connections;
  echo_exchange what(control_, index_);
  begin();
  unsigned in_a_row = 0;
  std::uint64_t turn = 0;
  for (; control_.at() != phase::draining && in_a_row < give_up_after; ++turn) {
    const auto due = control_.open_loop() ? control_.due_ns(index_ + turn * count) : now_ns();
    wait_until_due(due);
    if (control_.at() == phase::draining) break;
    const char* wrong = one_request(what);
    what.next();
    if (control_.settings.close_by_reset && fd_) close_with_reset(fd_);
    fd_.reset();
    in_a_row = wrong != nullptr ? in_a_row + 1 : 0;
    if (wrong != nullptr)
      tally_.fail(1, wrong);
    else
      tally_.succeed(control_, due, last_arrival_);
  }
  const auto end = control_.to_ns.load();
  if (!control_.open_loop() || end == never_ns) return;
  for (; control_.due_ns(index_ + turn * count) < end; ++turn) ++tally_.due_not_sent;
}

/// Connects, sends a request and reads the reply. Returns null, or what went wrong.
const char* blocking_client::one_request(echo_exchange& what) {
  const auto patience_ms = static_cast<int>(control_.patience().count() / 1'000'000);
  fd_ = connect_blocking(control_.target, patience_ms, sources_.next());
  if (!fd_) return std::strerror(errno);
  for (std::size_t sent = 0; sent < what.request_bytes();) {
    const std::size_t length = std::min(what.request_bytes() - sent, buffer_.size());
    what.produce(sent, buffer_.data(), length);
    if (!send_whole(fd_, {buffer_.data(), length})) return std::strerror(errno);
    sent += length;
  }
  while (!what.complete()) {
    const ssize_t n = receive_some(fd_, {buffer_.data(), buffer_.size()});
    if (n == 0) return what.take_end();
    if (n < 0) return errno == EAGAIN ? "no reply in time" : std::strerror(errno);
    if (const char* const wrong = what.take({buffer_.data(), static_cast<std::size_t>(n)})) return wrong;
  }
  last_arrival_ = now_ns();
  return nullptr;
}

}  // namespace

std::unique_ptr<worker> make_blocking_client(control& c, unsigned index) {
  return std::make_unique<blocking_client>(c, index);
}

}  // namespace quintet::bench
