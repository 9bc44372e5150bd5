// SPDX-License-Identifier: BSL-1.0
// connection: a byte stream on a loop, and the baton that says who may touch its data.
#pragma once

#include "../../base/memory/byte_chain.hpp"
#include "connection_core.hpp"
#include "cork_guard.hpp"
#include "send_notices.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace quintet {

/// A handler sees its connection with the baton held: while it runs, nobody else touches what these functions touch, on
/// whatever thread that is (connection_core has the rules).
///
/// `[baton]` below means: from inside this connection's handler (or coroutine).
class connection : protected detail::connection_core {
 public:
  /// [baton] Adds to the batch's output, by copying; all of a batch leaves in one send. False when it was not taken:
  /// after shutdown_send(), when full under overflow_policy::error, or because more than `max_output` would wait, which
  /// ends the connection (errc::output_overflow). True, too, of what overflow_policy::drop drops and counts. All
  /// overloads throw std::bad_alloc.
  bool write(bytes data) {
    if (!held().checks_writes && output_.try_append(data)) [[likely]]
      return true;
    return write_more(data);
  }
  /// [baton] The same for bytes in several pieces, of which all are taken, one behind the other, or none.
  bool write(std::span<const bytes> pieces);
  /// [baton] The same for bytes that somebody owns: those of at least `large_write` bytes are not copied but kept until
  /// they have left.
  bool write(shared_bytes data);
  /// [baton] The same of a string that is handed over, `c.write(std::move(text))`, and gone also when not taken.
  template <std::same_as<std::string> S>
  bool write(S&& data) {
    if (data.size() < large_write) return write(bytes(data));
    return write(std::make_shared<const std::string>(std::forward<S>(data)));
  }
  /// [baton] Why write() has returned false in this batch: EPIPE after shutdown_send(), errc::output_overflow, or
  /// errc::output_full.
  [[nodiscard]] error_code write_error() const noexcept;
  /// What is smaller costs less to copy than to send as a piece.
  static constexpr std::size_t large_write = detail::connection_output::large_write;
  /// [baton] Sends what was written so far, without waiting for the end of the batch, if the handler runs on the
  /// loop's own thread; elsewhere it leaves when the batch ends.
  void flush();
  /// [baton] `auto together = c.cork();`: until the end of the last of these guards, flush() does nothing and a batch
  /// that writes much does not begin to send; then what was written leaves as by flush(). The end of the batch, or a
  /// coroutine's wait in a read or in until_writable(), sends all the same. Throws std::bad_alloc.
  cork_guard cork();
  /// [baton] Calls f(error_code) once: when the kernel has taken all that was written before, or with the reason when
  /// the connection has ended before that (errc::end_of_stream if there is no other). On the loop's thread, after the
  /// handler has returned or while it waits, in the order of asking, without the baton; at the latest before on_close
  /// or, asked for in on_close, after it. Whether the peer has received anything only its answer can tell. What f
  /// throws is counted in `handler_errors`, and nothing else happens. Allocates one node; throws std::bad_alloc.
  template <std::invocable<error_code> F>
  void when_sent(F f) {
    check_held();
    output_.add_notice(*this, std::make_unique<send_notice_of<F>>(std::move(f)));
  }
  /// [baton] Whether less output waits than `high_watermark`; for a handler with on_writable also whether this batch
  /// may write more of what a turn of the loop has for all. One who produces much writes while this is true, and goes
  /// on in on_writable (a coroutine: after `co_await s.until_writable()`), which comes once after it was false, when
  /// the output is down to the low watermark and others have had their quantum. No more input is looked at before that.
  [[nodiscard]] bool writable() noexcept {
    detail::handoff_baton_flags& flags = held().handoff;
    if (enabled_.writable ? !is_full() : !output_.is_above_watermark(*this)) return true;
    if (is_on_loop() && !flags.wants_writable) loop_.fair_work().count_written(output_.written());
    flags.wants_writable |= enabled_.writable;
    return false;
  }
  /// [baton] Closes when everything written has left. Input that still arrives is discarded.
  void close() noexcept { held().handoff.close_requested = true; }
  /// [baton] The same because of an error, which on_close and the log are told; without memory they are told that.
  void close(error_code why) noexcept {
    held().handoff.close_requested = baton_flags_.handoff.has_reason = true;
    if (make_baton_extras()) baton_extras_->close_reason = why;
  }
  /// [baton] Whether close() was called.
  [[nodiscard]] bool closing() const noexcept { return held().handoff.close_requested; }
  /// [baton] Half-close: when everything written has left, the peer is told that nothing more will come. Input goes on.
  void shutdown_send() noexcept { held().output.shutdown_requested = baton_flags_.checks_writes = true; }
  /// [baton] From the end of this batch on, no more input is looked at, and none is taken from the kernel; until
  /// resume_reading(), which connection_registry::post() can bring.
  void pause_reading() noexcept { held().input.paused = true; }
  void resume_reading() noexcept { held().input.paused = false; }
  /// [baton] What this batch leaves unused is of no use before it is `size` bytes long: the handler is not called
  /// before that is there. What is above `max_input` ends the connection. Without memory it is called all the same.
  void require_input(std::size_t size) noexcept {
    check_held();
    input_.require(*this, size);
  }
  /// [baton] This batch has used input of a message that has not ended: the clock of `message_timeout` runs on although
  /// no input is left unused. `anew`: the message began in this batch, after the end of another one.
  void mark_incomplete(bool anew = false) noexcept {
    if (!held().handoff.timed) return;
    batch_.incomplete = true;
    batch_.begun_anew = anew;
  }
  /// [baton] The handler keeps so many bytes of input itself; for `max_input_total` they count as unused.
  void count_kept_input(std::size_t size) noexcept;
  /// [baton] What applies now: the server's, or this connection's own.
  [[nodiscard]] const connection_limits& limits() const noexcept {
    check_held();
    return applied_limits();
  }
  /// [baton] Limits of this connection alone, from the end of this batch on. Throws config_error and std::bad_alloc.
  void set_limits(const connection_limits& limits);
  /// [baton] While the output of this connection is above its high watermark, `source` is not read from: for a
  /// connection whose output is another one's input. Both have the same registry. From the end of this batch on. Throws
  /// std::bad_alloc.
  void throttle_source(connection_id source);

  /// [any thread] Names this connection as long as it lives, and nothing afterwards.
  [[nodiscard]] connection_id id() const noexcept { return id_; }
  /// [any thread] Of all connections of the same server.
  [[nodiscard]] connection_registry& registry() const noexcept { return host_.registry; }
  /// [any thread]
  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }
  /// [any thread] For Asio clients on this connection's loop; include <quintet/net/asio.hpp> for the type.
  [[nodiscard]] loop_executor get_executor() const;
  /// [baton] `127.0.0.1:80`, `[::1]:80`; empty once the connection has failed.
  [[nodiscard]] std::string peer_address() const;
  /// [baton] From the end of this batch on, or as soon as what was written has left, it belongs to the server's
  /// priority loop: on that loop and thread, and never on a pool. Its handler, its input and its id go with it; the
  /// object is another one there, so keep ids and no references. False, and nothing happens: there is no priority loop,
  /// it is there already, is a coroutine's or its handler cannot be moved without throwing, or the engine is not epoll
  /// or model 1's, or has descriptors of its own. When the priority loop is full it stays where it is. Throws
  /// std::bad_alloc.
  bool move_to_priority_loop();
  /// [baton] The same to another one of server::loops(), from one of these. Any thread can ask for it through the
  /// registry's post(). Throws std::bad_alloc.
  bool move_to(event_loop& to);
  /// [baton] The server is draining: what has been received is still to be answered, nothing more will come.
  [[nodiscard]] bool draining() const noexcept { return held().handoff.draining; }

 protected:
  /// `migrated`: it takes over from another object on another loop.
  connection(event_loop& loop, connection_host& host, detail::handoff_constants constants, bool migrated = false)
      : connection_core(loop, host, constants, migrated) {}
  ~connection() = default;

 private:
  friend detail::connection_core;
  friend class connection_registry;
  friend class connection_message;
  friend class cork_guard;

  bool write_more(bytes data);
  detail::connection_settings& changed_settings();
  void uncork(bool sends);
};

}  // namespace quintet
