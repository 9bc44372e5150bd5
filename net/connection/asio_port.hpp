// SPDX-License-Identifier: BSL-1.0
// asio_port: a connection with one read and one write that wait: what asio_stream needs of it, without Asio's headers.
#pragma once

#include "baton_keeper.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

namespace quintet {

class asio_memory;
class loop_log;

}  // namespace quintet

namespace quintet::detail {

class asio_port;

/// A read or a write that waits, with its completion handler. Only `by` knows the handler's type.
struct port_operation {
  struct functions {
    /// Moves the handler out, so that the operation is free, and calls it. May throw.
    void (*complete)(asio_port& of, port_operation& done, const error_code& why, std::size_t count);
    /// Destroys the handler.
    void (*drop)(port_operation& dropped) noexcept;
  };
  static constexpr std::size_t most_pieces = 3;  ///< a longer sequence of buffers takes several operations
  static constexpr std::size_t room = 112;       ///< of the handler; a larger one is allocated

  const functions* by = nullptr;  // null: free
  std::uint8_t count = 0;         // of pieces
  bool is_cancelled = false;
  alignas(std::max_align_t) std::array<std::byte, room> handler;
};

/// `Piece`: of the buffers, which the caller keeps until the operation completes.
template <class Piece>
struct port_operation_on : port_operation {
  using piece_type = Piece;
  [[nodiscard]] std::span<const Piece> used() const noexcept { return std::span(pieces).first(count); }
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t sum = 0;
    for (const Piece& p : used()) sum += p.size();
    return sum;
  }
  std::array<Piece, most_pieces> pieces{};
};
using read_operation = port_operation_on<std::span<char>>;
using write_operation = port_operation_on<bytes>;

/// Completes operations: never within the function that begins one, but right behind the handler that has begun it
/// where the port called that handler, so that an echo takes one turn and one send. The baton is out from the end of a
/// read until the next read waits, or a write waits for room. Output that is written meanwhile leaves when no operation
/// can be completed any more. A read goes on while a write waits for room, and whatever output waits: a peer that sends
/// all before it reads must not come to a standstill with a handler that does both.
///
/// The object lives until the connection is closed, and its users have gone: the stream, the handler's coroutine, and
/// functions in progress on other threads.
class asio_port : public baton_keeper {
 public:
  static constexpr std::size_t most_written = 64 * 1024;  ///< bytes that one write takes

  // All functions: [loop].
  [[nodiscard]] read_operation& read() noexcept { return read_; }
  [[nodiscard]] write_operation& write() noexcept { return write_; }
  /// The caller has filled a free operation.
  void begun() noexcept {
    if (!is_running_) wake();
  }
  /// Completes the operation with operation_aborted, unless it is about to complete otherwise.
  void cancel(port_operation& waiting) noexcept {
    waiting.is_cancelled = true;
    if (!is_running_) wake();
  }
  void cancel() noexcept {
    cancel(read_);
    cancel(write_);
  }
  void add_user() noexcept { ++users_; }
  void remove_user() noexcept {
    --users_;
    if (!is_running_) wake();
  }
  /// The handler's coroutine has ended with this exception, or without one.
  void coroutine_ended(const std::exception_ptr& thrown) noexcept;
  /// Close, or end sending, once output has left.
  void close_stream() noexcept;
  void end_sending() noexcept;
  void message_done() noexcept { note_progress(true); }
  /// In a catch block of a completion that the port has not called: the handler has failed, as by any other exception.
  void completion_threw() noexcept { connection_handoff::note_exception(*this); }
  /// Sends taken output at once, as long as the kernel takes it.
  void send_taken() noexcept {
    if (baton_is_out() && !has_ended()) send_early();
  }
  /// Runs the item where the thread model runs functions of offload().
  virtual void offload(quintet::work_item& item) noexcept = 0;

  using baton_keeper::host_;
  using connection::id;
  using connection::loop;
  [[nodiscard]] bool is_closed() const noexcept { return is_closing() || asks_to_close_; }
  [[nodiscard]] error_code failure() const noexcept { return reason(); }
  [[nodiscard]] bool hears_of_drain() const noexcept { return heard_.has(cancel_reason::drain); }
  [[nodiscard]] std::string peer_text() const { return peer(); }

 protected:
  asio_port(event_loop& loop, connection_host& host);
  ~asio_port();

  /// Calls the handler. May throw.
  virtual void start() = 0;
  /// The connection has ended: cancels what the handler's coroutine awaits. Throws std::bad_alloc, and what the
  /// cancellation handlers of the program throw.
  virtual void cancel_coroutine() = 0;

 private:
  static constexpr std::uint8_t most_tries = 100;
  /// The result of a try. An operation that is ready completes with it.
  struct outcome {
    bool is_ready = false;
    error_code why = {};
    std::size_t count = 0;
  };
  /// Runs the port at the end of the turn. An item of its own, as the baton may be in another queue.
  struct waker final : quintet::work_item {
    explicit waker(asio_port& p) noexcept : work_item(&waker::run), port(p) {}
    static void run(quintet::work_item& item) noexcept;
    asio_port& port;
  };

  /// Cancels the coroutine once, unless memory is short: then again in the next turns, up to a limit. After that, the
  /// coroutine ends when what it awaits ends.
  void try_to_cancel() noexcept;
  /// The coroutine has ended with this exception. `is_collected`: `&&` or `||` has kept it until the other operations
  /// had ended.
  void note_end_by(const std::exception_ptr& thrown, bool is_collected) noexcept;
  /// Returns whether an exception with this error is how the stream tells of its end.
  [[nodiscard]] bool tells_end(const error_code& thrown, bool is_collected) const noexcept;
  void wake() noexcept;
  static void woken(quintet::work_item& item) noexcept;
  void run() noexcept;
  template <class First>
  void run_with(First first) noexcept;
  bool complete_one();
  void complete(port_operation& done, const outcome& with);
  void tell_end(port_operation& done, const error_code& why);
  [[nodiscard]] outcome try_read() noexcept;
  [[nodiscard]] outcome try_write();
  [[nodiscard]] outcome read_end() noexcept;
  [[nodiscard]] outcome take(std::size_t most);
  [[nodiscard]] std::size_t room_for_output() const noexcept;
  void settle() noexcept;
  void keep_or_return() noexcept;
  void return_baton() noexcept;
  void return_timed_baton() noexcept;
  void send_early() noexcept;
  [[nodiscard]] bool is_unused() const noexcept { return users_ == 0 && !read_.by && !write_.by; }

  void on_received(bytes arrived) noexcept final;
  void run_open() noexcept final;
  std::size_t run_batch(bytes) noexcept final;
  void run_writable() noexcept final { run(); }
  void run_close(error_code) noexcept final;
  void interrupt() noexcept final {
    if (has_ended()) wake();
  }

  bool is_running_ = false;          // run() is on the stack
  bool is_queued_ = false;           // the waker
  bool asks_to_close_ = false;       // without the baton
  bool asks_to_shut_ = false;        // the same
  bool is_telling_ = false;          // an operation completes with an error: its handler is on the stack
  bool is_done_ = false;             // the connection does the rest alone: nothing may wake this object
  std::uint8_t tries_ = most_tries;  // calls of cancel_coroutine() that are left
  std::uint32_t users_ = 0;
  error_code told_;  // with which an operation has completed last, but for cancellations; as Asio knows it
  asio_memory& memory_;
  loop_log& log_;
  waker waker_;
  read_operation read_;
  write_operation write_;
};

}  // namespace quintet::detail
