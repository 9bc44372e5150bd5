// SPDX-License-Identifier: BSL-1.0
// uring_engine: multishot accept, sends batched at the end of the turn, one system call per turn.
#pragma once

#include "../handle_table.hpp"
#include "../socket_engine.hpp"
#include "../wake_event.hpp"
#include "watched.hpp"

#include <memory>
#include <vector>

namespace quintet::uring {

/// poll() submits the turn's requests and waits for completions, in one system call. A small send is copied, and queued
/// as a request. A large one is sent by a system call at once. No other loop can wait for this engine: with
/// DEFER_TASKRUN, the kernel does not always wake a thread that waits for the ring's descriptor (seen on Linux 6.18).
/// Thread tags as in engine.
class uring_engine final : public socket_engine {
 public:
  /// Throws boost::system::system_error.
  uring_engine();
  ~uring_engine() override;
  uring_engine(const uring_engine&) = delete;
  uring_engine& operator=(const uring_engine&) = delete;

  void prepare() override;
  bool poll(duration longest) override;
  void wake() noexcept override;
  error_code add(channel& c, stream_handle&& stream) override;
  stream_handle remove(channel& c) noexcept override;
  error_code set_reading(channel& c, bool on) noexcept override;
  using engine::send;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override;
  void flush(flush_extent how) noexcept override;
  void shutdown_send(stream_channel& c) noexcept override;
  void close(stream_handle&& handle) noexcept override;

 private:
  using watched_list = boost::intrusive::list<watched, boost::intrusive::constant_time_size<false>>;

  // The watched channels and their requests (uring_engine.cpp).
  [[nodiscard]] watched* find(int handle) const noexcept;
  void watch_again(channel& c, watched& w) noexcept;
  void begin_turn() noexcept;
  void move_here();
  void listen_for_wakes() noexcept;
  void start(watched& w, request r) noexcept;
  void cancel(watched& w, request r) noexcept;
  static void prepare_accept(io_uring_sqe& s, const watched& w) noexcept;
  bool prepare(watched& w, request r, bool cancels_it) noexcept;
  void defer(watched& w) noexcept;
  void prepare_all_deferred() noexcept;
  bool prepare_deferred(watched& w) noexcept;
  void resume_or_forget(watched& w) noexcept;
  void start_needed_requests(watched& w) noexcept;
  void forget(watched& w) noexcept;

  // Completions (uring_engine_transfers.cpp).
  struct callback;
  bool completed(const completion& c);
  bool dispatch(watched& w, const completion& c);
  bool received(watched& w, const completion& c);
  bool receive_guarded(watched& w);
  bool end_of_input(watched& w, error_code reason);
  bool dispatch_event(watched& w, const completion& c);
  bool hung_up(watched& w, const completion& c);
  bool writable(watched& w, const completion& done);
  bool accepted(watched& w, const completion& c) noexcept;
  bool acceptable(watched& w, const completion& c) noexcept;
  bool dispatch_accepted(watched& w) noexcept;
  void keep_accepted(watched& w, int handle) noexcept;
  void restart_starved() noexcept;

  // Sending (uring_engine_transfers.cpp).
  [[nodiscard]] bool adds_to_unsent(watched& w, output_pieces pieces, std::size_t count) noexcept;
  [[nodiscard]] bool queue(watched& w, output_pieces pieces, std::size_t count) noexcept;
  send_result send_now(watched& w, output_pieces pieces) noexcept;
  bool sent(watched& w, const completion& c);
  void prepare_send(io_uring_sqe& s, watched& w) noexcept;
  void await_silent(const watched& w) noexcept;
  void finish_closing() noexcept;
  void wait_for_room(watched& w) noexcept;
  void on_close_timeout(watched& w) noexcept;
  bool complete_silent_sends();
  void release_slot(watched& w) noexcept;
  void after_send(watched& w) noexcept;

  std::unique_ptr<io_ring> ring_;  // made on the loop's thread
  receive_buffers buffers_;
  send_slots slots_;
  wake_event wake_;
  std::uint64_t wakes_ = 0;
  bool listens_for_wakes_ = false;
  watched_list all_;
  handle_table<watched> by_handle_;
  template <auto Hook>
  using queue_of =
      boost::intrusive::slist<watched, boost::intrusive::member_hook<watched, decltype(watched::later), Hook>,
                              boost::intrusive::cache_last<true>>;
  queue_of<&watched::starved> starved_;  // wait for receive buffers
  std::vector<watched*> silent_;         // their sends complete in this turn
  std::vector<watched*> completing_;
  bool silence_is_awaited_ = false;
  queue_of<&watched::later> later_;  // have requests that the ring had no room for
  unsigned closing_ = 0;             // number of handles to close after their last completions
};

}  // namespace quintet::uring
