// SPDX-License-Identifier: BSL-1.0
// asio_port: when operations complete, and when the baton is returned.
#include "asio_port.hpp"

#include "../loop/asio_memory.hpp"
#include "../loop/loop_log.hpp"
#include "../watch/activity.hpp"
#include "connection_deadlines.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <initializer_list>
#include <new>
#include <utility>

namespace quintet::detail {
namespace {

// Completions in one run. A handler may begin operations of no bytes without end.
constexpr unsigned most_at_once = 64;

error_code aborted() noexcept { return system_error_code(ECANCELED); }

// Whether a library on top of the stream has it.
bool is_foreign(const boost::system::error_category& c) noexcept {
  return c != boost::system::system_category() && c != boost::system::generic_category() && c != quintet_category();
}

std::size_t copy_to(const read_operation& to, bytes from) noexcept {
  std::size_t done = 0;
  for (const std::span<char> piece : to.used()) done += from.substr(done).copy(piece.data(), piece.size());
  return done;
}

}  // namespace

asio_port::asio_port(event_loop& loop, connection_host& host)
    : baton_keeper(loop, host, {.reads_freely = true}),
      memory_(loop.use<asio_memory>()),
      log_(loop.use<loop_log>()),
      waker_(*this) {
  log_.add_user(host.log);
}

asio_port::~asio_port() {
  log_.remove_user(host_.log);
  for (port_operation* const left : std::initializer_list<port_operation*>{&read_, &write_})
    if (left->by) left->by->drop(*left);
}

// ---- Running --------------------------------------------------------------------------------------------------------

void asio_port::wake() noexcept {
  if (!is_done_ && !std::exchange(is_queued_, true)) loop_.run_soon(waker_);
}

void asio_port::waker::run(quintet::work_item& item) noexcept {
  asio_port& p = static_cast<waker&>(item).port;
  p.is_queued_ = false;
  if (p.baton_is_out() || p.has_ended() || p.is_closing()) return p.run();
  connection_handoff::dispatch_step(p, &asio_port::woken);
}

void asio_port::woken(quintet::work_item& item) noexcept {
  auto& p = static_cast<asio_port&>(static_cast<connection_core&>(item));
  p.guard_.enter();
  connection_output::end_wait(p);  // until the port waits for room again
  p.run();
}

// Calls first(), then completes what can be completed, and what these handlers begin.
template <class First>
[[gnu::always_inline]] inline void asio_port::run_with(First first) noexcept {
  is_running_ = true;
  {
    const asio_memory::scope recycles(memory_);
    const callback_scope scope = activity::current() ? connection_handoff::calling(*this, callback::coroutine)
                                                     : callback_scope(nullptr, callback::coroutine, nullptr, nullptr);
    connection_handoff::guarded(*this, first);
    bool more = true;
    for (unsigned n = 0; more; ++n) {
      if (n == most_at_once) {
        wake();
        break;
      }
      connection_handoff::guarded(*this, [&] { more = complete_one(); });
    }
  }
  is_running_ = false;
  settle();
}

void asio_port::run() noexcept {
  if (is_running_) return;  // whoever is on the stack sees what has changed
  run_with([this] {
    if (has_ended() && tries_ > 0) try_to_cancel();
  });
}

void asio_port::try_to_cancel() noexcept {
  const std::uint8_t left = std::exchange(tries_, 0);
  try {
    cancel_coroutine();
  } catch (const std::bad_alloc&) {
    tries_ = static_cast<std::uint8_t>(left - 1);
    if (tries_ > 0) wake();
  } catch (...) {
    connection_handoff::note_exception(*this);
  }
}

bool asio_port::complete_one() {
  if (write_.by)
    if (const outcome o = try_write(); o.is_ready) return complete(write_, o), true;
  if (read_.by)
    if (const outcome o = try_read(); o.is_ready) return complete(read_, o), true;
  return false;
}

void asio_port::complete(port_operation& done, const outcome& with) {
  if (with.why.failed() && with.why != aborted()) [[unlikely]]  // a cancelled one may learn of the end, too
    return tell_end(done, with.why);
  done.by->complete(*this, done, with.why, with.count);
}

void asio_port::tell_end(port_operation& done, const error_code& why) {
  struct scope {
    bool& is_telling;
    explicit scope(bool& flag) noexcept : is_telling(flag) { flag = true; }
    ~scope() { is_telling = false; }
  };
  told_ = why == errc::end_of_stream ? error_code(boost::asio::error::eof) : why;
  const scope telling(is_telling_);
  done.by->complete(*this, done, why, 0);
}

// No operation can be completed.
void asio_port::settle() noexcept {
  if (is_queued_) return;  // runs again soon
  if (closing_ && is_unused()) {
    is_done_ = true;
    close_is_done();
  } else if (!closing_ && baton_is_out()) {
    keep_or_return();
  }
}

void asio_port::keep_or_return() noexcept {
  if (has_ended() || baton_flags().handoff.handler_failed) return hand_back();
  if (is_unused()) {
    is_done_ = true;
    return handler_ended(false);
  }
  if (std::exchange(asks_to_shut_, false)) shutdown_send();
  if (asks_to_close_) {
    close();
    return hand_back();
  }
  if (!read_.by && !write_.by) return send_early();
  if (write_.by) output_.wait_for_room(*this, read_.by != nullptr);
  input_.note_unseen(*this, read_.by && input_.unread() > 0);
  return_baton();
}

// The end of a batch is activity, for `idle_timeout`. Where the handler has moved no bytes, it was its own timer.
[[gnu::always_inline]] inline void asio_port::return_baton() noexcept {
  if (is_fast_ || !is_timed_) [[likely]]
    return hand_back();
  return_timed_baton();
}

void asio_port::send_early() noexcept {
  has_moved_ |= output_.written() > 0;
  flush();
}

[[gnu::noinline]] void asio_port::return_timed_baton() noexcept {
  const bool has_moved = std::exchange(has_moved_, false) || has_progressed() || baton_flags().output.quantum_used;
  if (has_moved) return hand_back();
  const connection_deadlines* const before = deadlines();
  if (!before) return hand_back();
  const time_point active_at = before->last_active();
  // Input and messages that have waited for the baton follow within hand_back().
  const auto work = [&counters = loop_.counters()] { return counters.sends.value() + counters.batches.value(); };
  const std::uint64_t work_before = work();
  hand_back();
  connection_deadlines* const d = deadlines();
  if (!d || has_ended() || work() != work_before) return;
  d->set_last_active(active_at_ = active_at);
  watch_time();
}

// ---- Operations -----------------------------------------------------------------------------------------------------

asio_port::outcome asio_port::try_read() noexcept {
  if (has_ended()) return read_end();
  if (read_.is_cancelled || is_closed()) return {true, aborted()};
  if (read_.size() == 0) return {true};
  if (!baton_is_out()) return {};
  if (input_.unread() == 0) return at_end() ? read_end() : outcome();
  if (needs_return()) return {};
  const std::size_t count = copy_to(read_, take_input());
  input_.consume(*this, count);
  has_moved_ = true;
  return {true, {}, count};
}

// The reason of a reset, a limit or a stop; end_of_stream, which the stream tells as Asio's eof; or stopped, on a
// drain.
asio_port::outcome asio_port::read_end() noexcept {
  heard_.end_request(true);
  if (has_ended()) return {true, reason() ? reason() : closed_here() ? aborted() : error_code(errc::end_of_stream)};
  return {true, loop_flags().input.peer_ended ? errc::end_of_stream : errc::stopped};
}

asio_port::outcome asio_port::try_write() {
  if (has_ended() || loop_flags().output.send_failed) return {true, reason() ? reason() : system_error_code(EPIPE)};
  if (write_.is_cancelled) return {true, aborted()};
  if (is_closed() || asks_to_shut_ || baton_flags().output.shutdown_requested) return {true, system_error_code(EPIPE)};
  if (write_.size() == 0) return {true};
  if (!baton_is_out()) return {};
  const std::size_t room = room_for_output();
  return room > 0 ? take(room) : outcome();
}

std::size_t asio_port::room_for_output() const noexcept {
  if (output_.is_full(*this)) return 0;
  const std::size_t most = applied_limits().max_output;
  return std::min(most_written, most - std::min(most, output_.written() + output_.queue_size()));
}

asio_port::outcome asio_port::take(std::size_t most) {
  std::array<bytes, port_operation::most_pieces> pieces;
  std::size_t used = 0, sum = 0;
  for (const bytes piece : write_.used()) {
    pieces[used] = piece.substr(0, most - sum);
    sum += pieces[used++].size();
  }
  const bool written = used == 1 ? connection::write(pieces[0]) : connection::write(std::span(pieces).first(used));
  if (!written) return {true, write_error()};
  return {true, {}, sum};
}

// ---- The end --------------------------------------------------------------------------------------------------------

// An exception by which a stream tells that it has ended is no error of the handler. Of several, the first counts: the
// others have been cancelled for it.
void asio_port::coroutine_ended(const std::exception_ptr& thrown) noexcept {
  if (thrown) note_end_by(thrown, false);
  remove_user();
}

void asio_port::note_end_by(const std::exception_ptr& thrown, bool is_collected) noexcept try {
  std::rethrow_exception(thrown);
} catch (const boost::asio::multiple_exceptions& several) {
  note_end_by(several.first_exception(), true);
} catch (const boost::system::system_error& e) {
  if (!tells_end(e.code(), is_collected)) connection_handoff::note_exception(*this);
} catch (...) {
  connection_handoff::note_exception(*this);
}

// Libraries name the end by errors of their own (Beast: `end_of_stream`, `closed`), within the completion that tells
// them of it, and so do they for what was cancelled at the end.
bool asio_port::tells_end(const error_code& thrown, bool is_collected) const noexcept {
  if (told_ && thrown == told_) return true;
  if (is_telling_ && thrown == errc::incomplete_message) return true;  // of a message_reader
  const bool is_over = has_ended() || is_closed();
  if (is_over && thrown == aborted()) return true;
  return is_foreign(thrown.category()) && (is_over || is_telling_ || (is_collected && told_.failed()));
}

void asio_port::close_stream() noexcept {
  asks_to_close_ = true;
  cancel();
}

void asio_port::end_sending() noexcept {
  asks_to_shut_ = true;
  if (!is_running_) wake();
}

// ---- What the connection calls --------------------------------------------------------------------------------------

void asio_port::on_received(bytes arrived) noexcept {
  if (!is_idle({.slow_path = true}) || !read_.by || read_.is_cancelled) [[unlikely]]
    return connection::on_received(arrived);
  const std::size_t count = copy_to(read_, arrived);
  if (count < arrived.size()) {
    if (const end_reason why = input_.append(*this, arrived.substr(count))) return fail(why.code());
  }
  run_fast(arrived.size(),
           [this, count]() noexcept { run_with([this, count] { complete(read_, {true, {}, count}); }); });
}

void asio_port::run_open() noexcept {
  run_with([this] { start(); });
}

// Delivered input goes to the read that waits, whatever else waits for the baton: else it would be delivered again.
std::size_t asio_port::run_batch(bytes) noexcept {
  connection_output::end_wait(*this);
  run_with([this] {
    if (!read_.by || read_.is_cancelled || input_.unread() == 0) return;
    const std::size_t count = copy_to(read_, take_input());
    input_.consume(*this, count);
    has_moved_ = true;
    complete(read_, {true, {}, count});
  });
  return 0;
}

void asio_port::run_close(error_code) noexcept {
  closing_ = true;
  run();
}

}  // namespace quintet::detail
