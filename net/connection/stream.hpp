// SPDX-License-Identifier: BSL-1.0
// stream: a connection for coroutines. co_await read() returns the baton and waits until it comes with input.
#pragma once

#include "../../base/framing/delimiter.hpp"
#include "../../base/framing/frame.hpp"
#include "../loop/awaitable.hpp"
#include "../loop/coroutine_host.hpp"
#include "../watch/activity.hpp"
#include "../watch/type_text.hpp"
#include "baton_keeper.hpp"

#include <boost/system/result.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>

namespace quintet {

/// The coroutine runs on its connection's loop in every thread model, so it can await any Asio client. It must not
/// block: expensive work goes through offload(), where the thread models differ.
class stream : public detail::baton_keeper, private coroutine_host {
 public:
  using connection::cancelled;
  /// [baton] Returns at least one byte (others call this read_some), or nullopt at the end of the stream: also if the
  /// connection has failed or the server stops. Written output leaves first, in one send, if there is anything to wait
  /// for. Input of the same batch is returned without suspending. The coroutine suspends briefly if more has arrived
  /// since, or if a message, a close or a watermark waits for the baton. The bytes are valid until the next read.
  auto read() noexcept {
    struct awaiter {
      stream& s;
      bool await_ready() const { return s.begin_read(); }
      void await_suspend(std::coroutine_handle<> waiting) const noexcept { s.wait_for_input(waiting); }
      std::optional<bytes> await_resume() const { return s.end_read(); }
    };
    return awaiter{*this};
  }

  /// [baton] Returns the codec's next message, without suspending if it has arrived. On failure: errc::end_of_stream,
  /// errc::incomplete_message if the stream ends within a message, the codec's error, or failure(). A message longer
  /// than `max_input` is errc::message_too_big. value() instead of * throws the error as boost::system::system_error.
  /// The message is valid until the next read.
  ///
  /// The caller owns the codec and uses one for all messages of a stream. After an error the codec is unusable; read()
  /// still returns unused input. Memory that the codec keeps counts for `max_input_total`, as by count_kept_input(),
  /// until the coroutine waits in another kind of read.
  template <codec Codec>
  auto read_message(Codec& wire) noexcept {
    struct reader final : message_wait {
      reader(stream& s, Codec& c) noexcept : message_wait(s), with(c) {}
      frame parse(bytes in) override { return with.parse(in); }
      bool within_message() const noexcept override { return quintet::within_message(with); }
      std::size_t kept_bytes() const noexcept override {
        if constexpr (keeps_messages<Codec>)
          return with.kept_bytes();
        else
          return 0;
      }
      Codec& with;
    };
    return reader(*this, wire);
  }
  /// [baton] Returns input up to and including the delimiter, with at most `max_size` bytes before it.
  auto read_until(bytes delimiter, std::size_t max_size = default_max_message) {
    struct reader final : message_wait {
      reader(stream& s, bytes d, std::size_t max) noexcept : message_wait(s), text(d), max_size(max) {}
      frame parse(bytes in) override {
        frame f = search.parse(in, text, max_size);
        if (f.is == frame::state::complete) f.message = in.substr(0, f.size);
        return f;
      }
      bytes text;
      std::size_t max_size;
      delimiter_search search;
    };
    if (delimiter.empty())
      throw std::invalid_argument("stream::read_until: the delimiter is empty; it must have at least 1 byte");
    return reader(*this, delimiter, max_size);
  }
  /// [baton] Returns `size` bytes in one piece of memory. The memory is allocated when the first byte arrives, and
  /// grows. Large parts are received in place.
  auto read_exactly(std::size_t size) noexcept {
    struct reader final : message_wait {
      reader(stream& s, std::size_t n) noexcept : message_wait(s), size(n) {}
      frame parse(bytes in) override {
        return in.size() < size ? frame::incomplete(size) : frame::complete(in.substr(0, size), size);
      }
      std::size_t size;
    };
    return reader(*this, size);
  }

  /// [baton] Waits if output is above `high_watermark` or the quantum is used up: sends, until output is down to
  /// `low_watermark` and others have had their turn, or until the request is cancelled. Returns false if it is, or if
  /// the connection has failed.
  auto until_writable() noexcept {
    struct awaiter {
      stream& s;
      bool await_ready() const noexcept { return s.has_ended() || s.heard_.is_cancelled() || !s.output_.is_full(s); }
      void await_suspend(std::coroutine_handle<> waiting) const noexcept { s.wait_for_room(waiting); }
      bool await_resume() const noexcept { return !s.has_ended() && !s.heard_.is_cancelled(); }
    };
    return awaiter{*this};
  }

  /// [baton] Returns why the connection has failed, as on_close() would get it (errc::stopped, a time limit, a reset,
  /// ...), also while input is left that came before a reset. No error before that, at the end of the stream, or after
  /// an orderly close.
  [[nodiscard]] error_code failure() const noexcept { return reason(); }

  /// [baton] Runs f(), or f(const cancel_token&), where the thread model runs handlers, while this coroutine waits for
  /// its end. The co_await returns the result of f, or throws its exception. If the request is cancelled before f
  /// begins, f never runs, and boost::system::system_error with error_of() the reason is thrown. With a pool
  /// (reactor_pool, loop_per_thread_pool) that is a thread of the pool. Without one (single_reactor, loop_per_thread)
  /// it is this loop: f delays all connections of the loop. In thread_per_connection it is the connection's own thread.
  template <class F>
    requires std::invocable<F&> || std::invocable<F&, const cancel_token&>
  auto offload(F f) {
    return offloaded<F>(*this, std::move(f));
  }

  /// [baton] `const auto limit = s.with_deadline(s.loop().now() + 5s);`: while the result lives, and after that time,
  /// what this coroutine awaits is cancelled with cancel_reason::deadline: sleeps, events, Asio operations. Functions
  /// of offload() that have not begun never do, and others see it. The co_await returns once the operation has ended.
  /// Reads, and the input that they wait for, are not concerned.
  [[nodiscard]] deadline_guard with_deadline(time_point at) noexcept {
    check_held();
    return deadline_guard(*this, at, false);
  }
  /// [baton] The same for reads, and only for them: a read that waits at that time, or would wait later, returns
  /// nothing (read()) or errc::deadline_passed. has_passed() of the result tells it from the end. The connection lives,
  /// and no input is lost.
  [[nodiscard]] deadline_guard with_read_deadline(time_point at) noexcept {
    check_held();
    return deadline_guard(*this, at, true);
  }

 protected:
  stream(event_loop& loop, connection_host& host)
      : baton_keeper(loop, host, {.can_secure = true}), coroutine_host(loop, heard_) {}
  ~stream() = default;

  virtual awaitable<> make_coroutine() = 0;

 private:
  template <class F>
  class offloaded;

  /// Awaiter of a message: tries to parse whenever input has arrived, and holds the result.
  class message_wait {
   public:
    bool await_ready() { return stream_.begin_message(*this); }
    void await_suspend(std::coroutine_handle<> waiting) noexcept { stream_.wait_for_message(*this, waiting); }
    boost::system::result<bytes> await_resume() { return stream_.end_message(*this); }

   protected:
    explicit message_wait(stream& s) noexcept : stream_(s) {}
    message_wait(message_wait&&) = default;
    virtual ~message_wait() = default;

   private:
    friend stream;
    virtual frame parse(bytes in) = 0;
    [[nodiscard]] virtual bool within_message() const noexcept { return false; }
    [[nodiscard]] virtual std::size_t kept_bytes() const noexcept { return 0; }

    stream& stream_;
    frame found_;
    bool has_looked_ = false;    // found_ is set
    std::exception_ptr thrown_;  // by parse()
  };

  // [baton], on the loop.
  void use_lent() noexcept;
  bool begin_read();
  bool begin_message(message_wait& wanted) noexcept;
  bool try_parse(message_wait& wanted) noexcept;
  frame next_frame(message_wait& wanted);
  void wait_for_message(message_wait& wanted, std::coroutine_handle<> waiting) noexcept;
  void wait_for_more(message_wait& wanted) noexcept;
  void count_codec_input(std::size_t size) noexcept;
  void forget_codec() noexcept;
  boost::system::result<bytes> end_message(message_wait& wanted);
  void wait_for_input(std::coroutine_handle<> waiting) noexcept;
  void wait_for_room(std::coroutine_handle<> waiting) noexcept;
  std::optional<bytes> end_read();
  std::optional<bytes> end_late_read();
  void resume_waiting() noexcept;
  void resume_watched(std::coroutine_handle<> waiting) noexcept final;
  void ended(bool by_exception) noexcept;
  static awaitable<> drive(stream& s);
  [[nodiscard]] bool is_cancellation() const noexcept;

  void on_received(bytes arrived) noexcept final;
  void run_open() noexcept final;
  std::size_t run_batch(bytes) noexcept final;
  void run_writable() noexcept final;
  void run_close(error_code) noexcept final;
  void interrupt() noexcept final {
    cancel_operations();
    wake_writer();
  }
  void secured() noexcept final {
    if (reads_have_expired()) reads_expire();
  }
  void deadline_passed(bool of_reads) noexcept final { of_reads ? reads_expire() : interrupt(); }
  void reads_expire() noexcept;

  // First: these lie in the padding behind coroutine_host.
  bool counts_codec_ = false;  // count_kept_input() last reported a codec's memory
  bool expires_ = false;       // read() returns since its time has passed
  awaitable<> root_;
  std::coroutine_handle<> suspended_;  // in a read or until_writable()
  message_wait* wanted_ = nullptr;     // the read in progress, if it waits for a message
  std::size_t lent_ = 0;               // bytes shown to the coroutine; its next read marks them as used
};

/// Awaiter of offload(), and the work item that is handed off. It lives in the coroutine's frame.
template <class F>
class stream::offloaded final : private quintet::work_item {
 public:
  static constexpr bool takes_token = !std::invocable<F&>;
  static decltype(auto) call(F& f, const cancel_token& token) {
    if constexpr (takes_token)
      return f(token);
    else
      return f();
  }
  using result_type = decltype(call(std::declval<F&>(), std::declval<const cancel_token&>()));
  offloaded(stream& s, F f) : work_item(&offloaded::compute), stream_(s), function_(std::move(f)) {}
  offloaded(offloaded&& o) noexcept(std::is_nothrow_move_constructible_v<F>)
      : work_item(&offloaded::compute), stream_(o.stream_), function_(std::move(o.function_)) {}

  static constexpr bool await_ready() noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) noexcept {
    waiting_ = waiting;
    bool ran_here = false;  // on this stack: a pool may finish, and destroy this object, before run() returns
    ran_here_ = &ran_here;
    stream_.lend_baton();
    stream_.dispatch(*this);
    if (ran_here) stream_.baton_is_back();
    return !ran_here;
  }
  result_type await_resume() {
    if (never_begun_) stream_.loop().counters().skipped.add();
    if (error_) std::rethrow_exception(error_);
    if constexpr (!std::is_void_v<result_type>) return std::move(*result_);
  }

 private:
  using stored = std::conditional_t<std::is_void_v<result_type>, char, result_type>;

  static void compute(quintet::work_item& item) noexcept {
    auto& self = static_cast<offloaded&>(item);
    const pthread_t before = self.stream_.guard_.enter();  // the waiting coroutine lends the baton
    self.run();
    self.stream_.guard_.restore_owner(before);
    if (self.stream_.loop().in_this_thread()) {
      *self.ran_here_ = true;
    } else {
      self.become(&offloaded::resume);
      self.stream_.loop().post(item);
    }
  }
  void run() noexcept try {
    const cancel_token token(stream_.heard_);
    if (token) {
      never_begun_ = true;
      throw boost::system::system_error(error_of(token.why()));
    }
    const callback_scope scope =
        detail::connection_handoff::calling(stream_, callback::offloaded, detail::type_text<F>());
    if constexpr (std::is_void_v<result_type>)
      call(function_, token);
    else
      result_.emplace(call(function_, token));
  } catch (...) {
    error_ = std::current_exception();
  }
  static void resume(quintet::work_item& item) noexcept {
    auto& self = static_cast<offloaded&>(item);
    self.stream_.baton_is_back();
    self.stream_.resume(self.waiting_);
  }

  stream& stream_;
  F function_;
  std::optional<stored> result_;
  std::exception_ptr error_;
  std::coroutine_handle<> waiting_;
  bool* ran_here_ = nullptr;
  bool never_begun_ = false;
};

}  // namespace quintet
