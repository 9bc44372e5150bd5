// SPDX-License-Identifier: BSL-1.0
// connection: a byte stream on a loop; the baton decides which thread may touch its data.
#pragma once

#include "../../base/memory/byte_chain.hpp"
#include "../options/listen_options.hpp"
#include "connection_core.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace quintet {

class cork_guard;
class handshake_source;

namespace detail {

struct peer_info_access;

}  // namespace detail

/// The connection as its handler sees it. The handler holds the baton while it runs: no other thread then touches this
/// data (rules: connection_core).
///
/// `[baton]` below means: from inside this connection's handler or coroutine.
class connection : protected detail::connection_core {
 public:
  /// [baton] Copies `data` to the batch's output, which normally leaves in one send. Returns false if the write is
  /// rejected: after shutdown_send() or the end, when full under overflow_policy::error, or if more than `max_output`
  /// would wait. The last case closes the connection (errc::output_overflow). Returns true for data that
  /// overflow_policy::drop drops and counts, and for data to a peer that has closed: its input is still delivered
  /// before on_close. On a pool it may return true although the loop has already found the connection broken;
  /// when_sent() reports that. All overloads throw std::bad_alloc.
  bool write(bytes data) {
    if (!held().output.checks_writes && output_.try_append(data)) [[likely]]
      return true;
    return write_more(data);
  }
  /// [baton] Overload for several pieces: writes all of them in order, or none.
  bool write(std::span<const bytes> pieces);
  /// [baton] Overload for shared bytes. Data of at least connection_limits::merge_threshold bytes is not copied: the
  /// connection shares ownership until it has been sent.
  bool write(shared_bytes data);
  /// [baton] Overload for rvalue strings, `c.write(std::move(text))`. `data` may be moved from even if it is rejected.
  template <std::same_as<std::string> S>
  bool write(S&& data) {
    if (data.size() < applied_limits().merge_threshold) return write(bytes(data));
    return write(std::make_shared<const std::string>(std::forward<S>(data)));
  }
  /// [baton] Returns why write() returned false in this batch: EPIPE after shutdown_send() or the end,
  /// errc::output_overflow or errc::output_full.
  [[nodiscard]] error_code write_error() const noexcept;
  /// [baton] Sends the output written so far, if the handler runs on the loop's thread. While the kernel takes no more,
  /// the rest follows as soon as it does. On other threads it does nothing: the output leaves when the batch ends.
  void flush();
  /// [baton] `auto together = c.cork();`: until the last of these guards ends, flush() does nothing and a large batch
  /// does not start to send. The last guard then sends as by flush(). The end of the batch sends despite a cork. So
  /// does a coroutine that waits in a read or in until_writable(). Throws std::bad_alloc.
  cork_guard cork();
  /// [baton] Calls f(error_code) once, without an error when the kernel has taken all output written before. If the
  /// connection ends first, f gets the reason, or errc::end_of_stream if there is none. The loop's thread calls f
  /// without the baton, in call order, after the handler has returned or while it waits. Calls come before on_close;
  /// those requested in on_close come after it. Only the peer's answer confirms receipt. An exception from f only
  /// counts in `handler_errors`. Allocates one node; throws std::bad_alloc.
  template <std::invocable<error_code> F>
  void when_sent(F f) {
    check_held();
    output_.add_notice(*this, std::make_unique<send_notice_of<F>>(std::move(f)));
  }
  /// [baton] Returns whether less output waits than `high_watermark`. With on_writable, also whether this batch has
  /// write quota left. A handler with much output writes while this is true and continues in on_writable (coroutine:
  /// after `co_await s.until_writable()`). on_writable runs once after false: output is at the low watermark, and
  /// others have had their quantum. No input is delivered before that.
  [[nodiscard]] bool writable() noexcept {
    check_held();
    return output_.is_writable(*this);
  }
  /// [baton] Between two messages of a batch: returns true if the handler must return now and leave the rest unused,
  /// since output has reached `high_watermark` or the batch's write quota. That input comes again when output is down
  /// to the low watermark and others have had their turn. Always false under overflow_policy::drop and error.
  [[nodiscard]] bool must_yield() noexcept {
    check_held();
    return output_.must_yield(*this);
  }
  /// [baton] Closes the connection after queued output has been sent. Discards further input.
  void close() noexcept {
    check_held();
    own_flags().close_requested = true;
  }
  /// [baton] Closes because of an error: on_close and the log get `why`, or not_enough_memory if storing it failed.
  void close(error_code why) noexcept;
  /// [baton] Returns whether close() was called.
  [[nodiscard]] bool closing() const noexcept { return held().core.close_requested; }
  /// [baton] Half-closes: after queued output has been sent, tells the peer that no more follows. Input continues.
  void shutdown_send() noexcept {
    check_held();
    output_.refuse_writes(*this);
  }
  /// [baton] Stops delivery, and reading from the kernel, from the end of this batch until resume_reading(). Other
  /// threads can resume through connection_registry::post().
  void pause_reading() noexcept {
    check_held();
    input_.pause(*this, true);
  }
  void resume_reading() noexcept {
    check_held();
    input_.pause(*this, false);
  }
  /// [baton] Calls the handler again only once its unused input has `size` bytes. More unused input than `max_input`
  /// closes the connection. Without memory for the note, input is delivered as usual.
  void require_input(std::size_t size) noexcept {
    check_held();
    input_.require(*this, size);
  }
  /// [baton] Reports that this batch used input of an unfinished message: `message_timeout` runs on although no input
  /// is left. `is_new_message`: that message began in this batch, after the end of another.
  void mark_incomplete(bool is_new_message = false) noexcept {
    check_held();
    if (!is_timed_) return;
    own_flags().incomplete = true;
    own_flags().is_new_message = is_new_message;
  }
  /// [baton] Counts a message whose checksum was wrong, in loop_figures::checksum_errors.
  void count_checksum_error() noexcept;
  /// [baton] Reports that the handler itself stores `size` bytes of input: they count as unused for `max_input_total`.
  void count_kept_input(std::size_t size) noexcept;
  /// [baton] Returns the limits in force: the server's, or this connection's own.
  [[nodiscard]] const connection_limits& limits() const noexcept {
    check_held();
    return applied_limits();
  }
  /// [baton] Sets limits of this connection alone, from the end of this batch. Throws config_error and std::bad_alloc.
  void set_limits(const connection_limits& limits);
  /// [baton] Stops reading from `source` while this connection's output is above its high watermark. For a connection
  /// whose output comes from the input of `source`. Both must have the same registry. In force from the end of this
  /// batch. Throws std::bad_alloc.
  void throttle_source(connection_id source);

  /// [baton] Begins TLS in mid-stream, as PostgreSQL's SSLRequest and SMTP's STARTTLS ask for. `answer` is written
  /// and leaves in plain, as all output before it. From now on write() fails, and nothing is delivered. Once the
  /// handler has returned (a coroutine: waits in a read), the handshake begins. Then the same handler goes on, and
  /// tls_info_of() tells of it. If the handshake fails, the connection ends with the reason: with
  /// errc::input_before_tls if bytes wait by then that no handler has used, so leave what is behind the request unused.
  /// `context`: a tls_context. `limits`: on each loop those of the first call for a context hold. Returns, without
  /// effect, EOPNOTSUPP without TCP, without listener_settings::tls_begins or `tls` of any listener, with urgent
  /// messages (somebody else would read before the handler), and for an asio_stream; EALREADY with TLS; EPIPE after
  /// close() or shutdown_send(); EINVAL for a client's context; write_error(). Throws std::bad_alloc.
  [[nodiscard]] error_code start_tls(std::shared_ptr<handshake_source> context, bytes answer,
                                     const handshake_limits& limits = {});

  /// [any thread] Returns an id that names this connection while it lives, and nothing afterwards.
  [[nodiscard]] connection_id id() const noexcept { return id_; }
  /// [any thread] Returns the registry of all connections of the same server.
  [[nodiscard]] connection_registry& registry() const noexcept { return host_.registry; }
  /// [any thread]
  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }
  /// [any thread] Returns an executor for Asio clients on this loop; include <quintet/net/asio.hpp> for the type.
  [[nodiscard]] loop_executor get_executor() const;
  /// [baton] Returns the peer as `127.0.0.1:80` or `[::1]:80`, also in on_close.
  [[nodiscard]] std::string peer_address() const;
  /// [baton] Moves the connection to the server's priority loop, after this batch or once its output has been sent. Its
  /// handler then runs on that loop's thread, never on a pool. Handler, input and id move along. The object is
  /// replaced: keep ids, no references. Returns false, without effect, if there is no priority loop or the connection
  /// is there already. The same holds for coroutines, handlers whose move may throw, and engines that cannot detach
  /// connections. (Epoll and model 1's can, unless they have descriptors of their own.) A full priority loop leaves it
  /// where it is. Throws std::bad_alloc.
  bool move_to_priority_loop();
  /// [baton] The same between two of server::loops(). Any thread can request it through the registry's post(). Throws
  /// std::bad_alloc.
  bool move_to(event_loop& to);
  /// [baton] Returns a view of why the work for this connection is no longer wanted. Copies of it may be asked as long
  /// as the baton is held.
  [[nodiscard]] cancel_token cancelled() const noexcept {
    check_held();
    return cancel_token(heard_);
  }
  /// [baton] Chooses the reasons that cancel, instead of those before; at first default_cancel_reasons. The end of the
  /// loop and abort() always do. One that is left out ends nothing: without `deadline`, with_deadline() does not. With
  /// peer_finished, a peer that sends no more is gone: batches that have not begun are skipped and counted
  /// (loop_figures::skipped). Otherwise all that it has sent is still delivered.
  void cancel_on(cancel_reasons these) noexcept {
    check_held();
    heard_.cancel_on(these);
  }
  /// [baton] Where the handler runs on the loop's thread: asks the system whether the peer has finished or reset the
  /// connection, which the loop cannot hear meanwhile. One system call. Returns cancelled().
  cancel_token look_for_end() noexcept;
  /// [baton] Returns this connection's key for connection_registry::cancel(), always the same: for a peer that may
  /// cancel its requests through another connection, as PostgreSQL's can. Throws std::bad_alloc.
  [[nodiscard]] cancel_key make_cancel_key();
  /// [baton] Returns whether the server drains: received input is still to be answered, no more will come. A coroutine
  /// learns it also while it awaits something else; a function on a pool learns it with its next batch.
  [[nodiscard]] bool draining() const noexcept { return held().core.draining; }

 protected:
  /// `migrated`: this object takes over from an object on another loop.
  connection(event_loop& loop, connection_host& host, detail::handoff_constants constants, bool migrated = false)
      : connection_core(loop, host, constants, migrated) {}
  virtual ~connection() = default;

 private:
  friend detail::connection_core;
  friend detail::peer_info_access;
  friend class connection_registry;
  friend class connection_message;
  friend class cork_guard;

  bool write_more(bytes data);
  detail::connection_settings& changed_settings();
  void uncork(bool sends);
};

/// Result of connection::cork(). [baton] It must not outlive its connection: use a local variable of a handler or
/// coroutine. If an exception destroys it, it sends nothing; the end of the batch decides.
class [[nodiscard]] cork_guard {
 public:
  cork_guard(cork_guard&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)), exceptions_(other.exceptions_) {}
  cork_guard& operator=(cork_guard&&) = delete;
  ~cork_guard() {
    if (connection_) end();
  }

 private:
  friend class connection;
  explicit cork_guard(connection& of) noexcept;
  void end() const noexcept;

  connection* connection_;
  int exceptions_;  // in flight when it was made
};

}  // namespace quintet
