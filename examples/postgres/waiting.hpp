// SPDX-License-Identifier: BSL-1.0
// waiting: a coroutine that waits, and hears a CancelRequest meanwhile.
#pragma once

#include "protocol.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/stream.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <memory>

namespace postgres {

/// One session's cancellations. The session and its cancel_keys share it.
struct cancel_state {
  std::atomic<bool> requested{false};
  boost::asio::steady_timer* waiting = nullptr;  // on the loop
};

/// Waits without blocking the loop, until the time has passed or a cancellation is requested.
inline quintet::awaitable<> wait_for(quintet::stream& s, std::chrono::nanoseconds time, cancel_state& state) {
  boost::asio::steady_timer timer(s.get_executor(), time);
  state.waiting = &timer;
  if (!state.requested) co_await timer.async_wait(boost::asio::as_tuple(boost::asio::deferred));
  state.waiting = nullptr;
}

/// [any thread]
inline void request_cancel(quintet::event_loop& loop, const std::shared_ptr<cancel_state>& state) {
  state->requested = true;
  loop.post([state] {
    if (state->waiting != nullptr) state->waiting->cancel();
  });
}

/// Ends the connection with an ErrorResponse if it lives for too long, and the session waits for a message.
class time_limit {
 public:
  time_limit(quintet::stream& s, std::chrono::seconds after, const fatal_error& last_words) : loop_(s.loop()) {
    if (after.count() == 0) return;
    auto end = [lives = lives_, last_words](quintet::connection& c) {
      if (!*lives) return;
      message_writer out;
      out.response('E', "FATAL", last_words);
      c.write(out.data());
      c.close();
    };
    timer_ = loop_.after(after, [&to = s.registry(), id = s.id(), end] { (void)to.post(id, end); });
  }
  ~time_limit() {
    *lives_ = false;
    (void)loop_.cancel(timer_);
  }
  time_limit(const time_limit&) = delete;
  time_limit& operator=(const time_limit&) = delete;

 private:
  quintet::event_loop& loop_;
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  quintet::timer_id timer_{};
};

}  // namespace postgres
