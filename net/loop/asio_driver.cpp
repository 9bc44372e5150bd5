// SPDX-License-Identifier: BSL-1.0
// asio_driver: a turn for each time that the loop's descriptor or its next timer wakes the io_context.
#include "asio_driver.hpp"

#include "../../base/error.hpp"
#include "../engine/embedding.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace quintet {

namespace asio = boost::asio;

/// The handlers in the io_context own this object. So a destroyed io_context destroys it, with its I/O objects.
class asio_driver::turns : public std::enable_shared_from_this<turns> {
 public:
  turns(event_loop& loop, asio::io_context& in, std::function<void()> finish, std::function<void()> ended)
      : loop_(&loop), descriptor_(in), timer_(in), finish_(std::move(finish)), ended_(std::move(ended)) {
    descriptor_.assign(loop.io().embedding()->descriptor());
  }
  ~turns() { unwatch(); }
  turns(const turns&) = delete;
  turns& operator=(const turns&) = delete;

  void post_turn();
  void leave() noexcept;

 private:
  using watched_descriptor = asio::posix::basic_stream_descriptor<asio::io_context::executor_type>;
  void take_turn();
  void wait();
  void watch();
  void wake_after(duration longest);
  void end();
  void unwatch() noexcept { (void)descriptor_.release(); }

  event_loop* loop_;               // nullptr: has left it
  watched_descriptor descriptor_;  // borrowed: released, never closed
  asio::steady_timer timer_;
  std::function<void()> finish_, ended_;
  std::thread::id thread_;  // of the first turn
  bool is_watching_ = false, is_timing_ = false, is_posted_ = false;
  bool in_turn_ = false;
};

void asio_driver::turns::take_turn() {
  if (!loop_) return;
  if (thread_ == std::thread::id()) thread_ = std::this_thread::get_id();
  if (thread_ != std::this_thread::get_id())
    throw std::logic_error("several threads run the io_context of an asio_driver; one thread alone must run it");
  if (in_turn_) return;  // a handler runs the io_context
  in_turn_ = true;
  try {
    loop_->poll();
    in_turn_ = false;
    if (loop_ && !loop_->finished()) wait();
  } catch (...) {
    in_turn_ = false;
    leave();
    throw;
  }
  if (loop_ && loop_->finished()) end();
}

// A timer that fires too early costs one turn. A timer that follows each deadline costs system calls in each turn.
void asio_driver::turns::wait() {
  const event_loop::outside_wait until = loop_->wait_outside();
  if (until.longest == duration::zero()) return post_turn();
  watch();
  if (until.longest != engine::forever) wake_after(until.longest);
}

void asio_driver::turns::post_turn() {
  if (is_posted_) return;
  asio::post(timer_.get_executor(), [self = shared_from_this()] {
    self->is_posted_ = false;
    self->take_turn();
  });
  is_posted_ = true;
}

void asio_driver::turns::watch() {
  if (is_watching_) return;
  descriptor_.async_wait(watched_descriptor::wait_read, [self = shared_from_this()](const error_code& why) {
    if (why == asio::error::operation_aborted) return;
    self->is_watching_ = false;
    self->take_turn();
  });
  is_watching_ = true;
}

void asio_driver::turns::wake_after(duration longest) {
  const auto at = later(std::chrono::steady_clock::now(), longest);
  if (is_timing_ && timer_.expiry() <= at) return;
  timer_.expires_at(at);
  timer_.async_wait([self = shared_from_this()](const error_code& why) {
    if (why == asio::error::operation_aborted) return;
    self->is_timing_ = false;
    self->take_turn();
  });
  is_timing_ = true;
}

void asio_driver::turns::end() {
  leave();
  finish_();
  if (ended_) ended_();
}

void asio_driver::turns::leave() noexcept {
  if (!loop_) return;
  loop_ = nullptr;
  unwatch();
  timer_.cancel();
}

asio_driver::~asio_driver() {
  if (const auto still = turns_.lock()) still->leave();
}

void asio_driver::require_descriptor(event_loop& loop) {
  engine_embedding* const embedded = loop.io().embedding();
  if (!embedded || embedded->descriptor() < 0)
    throw config_error("engine is " + std::string(loop.io().capabilities().name) +
                       ", which has no descriptor; it must be epoll for a server inside of an io_context");
}

void asio_driver::begin(event_loop& loop, asio::io_context& in, std::function<void()> finish,
                        std::function<void()> ended) {
  const auto fresh = std::make_shared<turns>(loop, in, std::move(finish), std::move(ended));
  fresh->post_turn();
  turns_ = fresh;
}

}  // namespace quintet
