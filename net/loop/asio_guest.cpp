// SPDX-License-Identifier: BSL-1.0
// asio_guest: polls the io_context, and waits in it on behalf of the engine.
#include "asio_guest.hpp"

#include "../../base/error.hpp"
#include "../engine/asio_wake_ups.hpp"
#include "loop_log.hpp"

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cerrno>
#include <new>

namespace quintet {

namespace asio = boost::asio;

namespace {

// Limit of handlers in one poll. Handlers that post themselves again would otherwise keep the loop busy.
constexpr unsigned most_a_turn = 64;
// Limit of a wait that does not watch the engine.
constexpr duration longest_blind_wait = std::chrono::milliseconds(1);

// UNSAFE_IO: only the loop's thread touches I/O objects, so Asio need not lock its descriptors. Posts from other
// threads stay safe. A handler's first I/O object may be what makes the context, and Asio names only its own call.
std::unique_ptr<asio_guest::context_type> make_context() try {
  auto fresh = std::make_unique<asio_guest::context_type>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO);
  detail::prove_wake_ups(*fresh);
  return fresh;
} catch (const boost::system::system_error& e) {
  if (e.code().value() != EMFILE && e.code().value() != ENFILE) throw;
  throw_system_error(e.code().value(), "cannot create the io_context of an event loop, which takes 3 descriptors");
}

}  // namespace

asio_guest::asio_guest(context_type* of_engine, event_loop& loop)
    : loop_(loop), own_(of_engine ? nullptr : make_context()), context_(of_engine ? *of_engine : *own_) {}

asio_guest::~asio_guest() { unwatch(); }

bool asio_guest::poll() {
  if (!own_) return false;
  if (context_.stopped()) context_.restart();
  unsigned ran = 0;
  while (ran < most_a_turn && run_one([this] { return context_.poll_one(); })) ++ran;
  bool active = !context_.stopped();
  if (!active && stopped_by_wake_.exchange(false)) {  // operations may still be outstanding
    context_.restart();
    active = true;
  }
  active_.store(active, std::memory_order_relaxed);
  if (!active) unwatch();
  return ran > 0;
}

bool asio_guest::wait(int engine_fd, duration longest) {
  // If the engine cannot be watched, for lack of memory or descriptors, the loop polls it in the next turn.
  if (!watches(engine_fd)) longest = std::min(longest, longest_blind_wait);
  const time_point end = later(std::chrono::steady_clock::now(), longest);
  return run_one([&] { return end == time_point::max() ? context_.run_one() : context_.run_one_until(end); });
}

template <class Run>
bool asio_guest::run_one(Run run) {
  try {
    return run() > 0;
  } catch (...) {  // thrown by a handler, which has ended
    detail::note_exception(loop_);
    return true;
  }
}

bool asio_guest::watches(int engine_fd) noexcept try {
  if (engine_ && engine_->native_handle() != engine_fd) unwatch();
  if (engine_fd < 0) return true;
  if (!engine_) engine_ = std::make_unique<descriptor>(context_, engine_fd);
  if (armed_) return true;
  engine_->async_wait(descriptor::wait_read, [this](const boost::system::error_code& ec) {
    if (ec != asio::error::operation_aborted) armed_ = false;
  });
  armed_ = true;
  return true;
} catch (...) {
  return false;
}

// The handler of the aborted wait runs in a later poll, when `armed_` already belongs to the next descriptor.
void asio_guest::unwatch() noexcept {
  if (!engine_) return;
  (void)engine_->release();
  engine_.reset();
  armed_ = false;
}

void asio_guest::wake() noexcept try {
  asio::post(context_, [] {});
} catch (const std::bad_alloc&) {  // stop() ends a wait, too, and allocates nothing
  stopped_by_wake_.store(true);
  context_.stop();
}

}  // namespace quintet
