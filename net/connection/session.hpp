// SPDX-License-Identifier: BSL-1.0
// session: a connection with its handler. message_session has callbacks; stream_session.hpp has coroutines, and
// asio_session.hpp handlers of Asio's streams.
#pragma once

#include "../watch/activity.hpp"
#include "../watch/type_text.hpp"
#include "handler.hpp"
#include "session_manager.hpp"

#include <concepts>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace quintet::detail {

struct urgent_result;

template <class H>
inline constexpr bool has_on_open = requires(H& h, connection& c) { h.on_open(c); };
template <class H>
inline constexpr bool has_on_writable = requires(H& h, connection& c) { h.on_writable(c); };
template <class H>
inline constexpr bool has_classify = requires(H& h, bytes in) {
  { h.classify(in) } -> std::same_as<connection_class>;
};
template <class H>
inline constexpr bool has_on_overload = requires(H& h, connection& c, bytes in) { h.on_overload(c, in); };
template <class H>
inline constexpr bool has_filter_urgent =
    requires(H& h, bytes in, urgent_result& found) { h.filter_urgent(in, true, found); };
template <class H>
inline constexpr bool has_on_read_eof = requires(H& h, connection& c) { h.on_read_eof(c); };
template <class H>
inline constexpr bool has_on_drain = requires(H& h, connection& c) { h.on_drain(c); };
template <class H>
inline constexpr bool has_on_limit = requires(H& h, connection& c, error_code why) { h.on_limit(c, why); };
template <class H>
inline constexpr bool has_on_close = requires(H& h, connection& c, error_code why) { h.on_close(c, why); };

/// Calls the handler's filter_urgent().
using urgent_filter_call = bytes (*)(connection_core& session, bytes arrived, bool at_end, urgent_result& found);

/// [loop] Take arrived input, and the end of it: answer urgent messages, even while the handler runs or its batch waits
/// for a pool. The rest is the handler's.
void receive_filtered(connection_core& c, bytes arrived, urgent_filter_call filter) noexcept;
void end_filtered(connection_core& c, urgent_filter_call filter) noexcept;

/// A session with a callback handler.
template <class Handler>
class message_session final : public connection {
 public:
  /// Whether the handler can move to another loop.
  static constexpr bool can_move = std::is_nothrow_move_constructible_v<Handler>;

  static session_manager::session_ptr make(session_manager& manager, event_loop& loop, connection_host& host,
                                           Handler handler) {
    return {new message_session(manager, loop, host, std::move(handler)), {&destroy_session}};
  }
  /// [loop] Returns the handler of an ended session, which must be of this type.
  static Handler& handler_of(connection_core& ended) noexcept { return static_cast<message_session&>(ended).handler_; }

 private:
  message_session(session_manager& manager, event_loop& loop, connection_host& host, Handler handler)
      : connection(loop, host,
                   {.runs_here = manager.runs_here(loop),
                    .is_watched = host.watchdog != nullptr,
                    .can_move = can_move && manager.can_migrate(),
                    .can_secure = !has_filter_urgent<Handler>}),
        manager_(manager),
        handler_(std::move(handler)) {}
  /// Takes over the handler of another session.
  message_session(message_session& from, event_loop& loop, connection_host& host) noexcept
    requires can_move
      : connection(loop, host,
                   {.runs_here = from.manager_.runs_here(loop),
                    .is_watched = host.watchdog != nullptr,
                    .can_move = true,
                    .can_secure = !has_filter_urgent<Handler>},
                   true),
        manager_(from.manager_),
        handler_(std::move(from.handler_)) {}

  static void destroy_session(connection_core& c) noexcept { delete static_cast<message_session*>(&c); }
  static connection_core* migrate_session(connection_core& from, event_loop& to, connection_host& host) noexcept
    requires can_move
  {
    return new (std::nothrow) message_session(static_cast<message_session&>(from), to, host);
  }

  error_code begin(stream_handle&& stream) noexcept override {
    return open(std::move(stream), {.open = has_on_open<Handler>,
                                    .read_eof = has_on_read_eof<Handler>,
                                    .drain = has_on_drain<Handler>,
                                    .writable = has_on_writable<Handler>,
                                    .overload = has_on_overload<Handler>,
                                    .limit = has_on_limit<Handler>,
                                    .classify = has_classify<Handler> && can_move && manager_.can_migrate(),
                                    .close = has_on_close<Handler>});
  }
  void dispatch(quintet::work_item& item) noexcept override { manager_.model().run(item); }
  void run_open() override {
    if constexpr (has_on_open<Handler>) handler_.on_open(*this);
  }
  // The handler is compiled in: from the engine to the handler there is one indirect call.
  void on_received(bytes arrived) noexcept override {
    if constexpr (has_filter_urgent<Handler>) {
      receive_filtered(*this, arrived, &filter_urgent);
    } else {
      if ((has_classify<Handler> && enabled_.classify) || !try_fast_path(arrived)) return receive_slowly(arrived);
      std::size_t used = arrived.size();
      const auto run = [&] { used = run_batch(arrived); };
      if (!constants_.is_watched) [[likely]]
        connection_handoff::guarded(*this, run);
      else
        connection_handoff::guarded(*this, [&] {
          const callback_scope scope(callback::input, &id_, type_text<Handler>());
          run();
        });
      fast_path_done(arrived, used);
    }
  }
  // A pool's batch that would run here takes the fast path, and is measured.
  [[gnu::noinline]] void receive_slowly(bytes arrived) noexcept {
    inline_gate* const gate = constants_.runs_here || enabled_.classify ? nullptr : manager_.model().known_gate(loop());
    if (!gate || !is_idle({.slow_path = true}) || !gate->admits(cost())) return connection::on_received(arrived);
    begin_fast_path(arrived.size());
    const time_point begun = loop().time().now();
    std::size_t used = arrived.size();
    connection_handoff::guarded(*this, [&] {
      const callback_scope scope(callback::input, &id_, type_text<Handler>());
      used = run_batch(arrived);
    });
    const duration took = loop().time().now() - begun;
    note_cost(took);
    gate->account(took);
    fast_path_done(arrived, used, {.slow_path = true});
  }
  void on_receive_end(error_code reason) noexcept override {
    if constexpr (has_filter_urgent<Handler>)
      if (!reason) end_filtered(*this, &filter_urgent);
    connection::on_receive_end(reason);
  }
  // In place, bytes would not pass the filter.
  std::span<char> receive_space() noexcept override {
    return has_filter_urgent<Handler> ? std::span<char>() : connection::receive_space();
  }
  static bytes filter_urgent(connection_core& c, bytes arrived, bool at_end, urgent_result& found) {
    if constexpr (has_filter_urgent<Handler>)
      return static_cast<message_session&>(c).handler_.filter_urgent(arrived, at_end, found);
    else
      return arrived;
  }
  std::size_t run_batch(bytes input) override {
    return used_by(input, [&] { return handler_(static_cast<connection&>(*this), input); });
  }
  std::size_t run_overload(bytes input) override {
    if constexpr (has_on_overload<Handler>)
      return used_by(input, [&] { return handler_.on_overload(static_cast<connection&>(*this), input); });
    else
      return 0;
  }
  template <class Call>
  static std::size_t used_by(bytes input, Call call) {
    if constexpr (std::is_void_v<std::invoke_result_t<Call&>>) {
      call();
      return input.size();
    } else {
      return static_cast<std::size_t>(call());
    }
  }
  connection_class run_classify(bytes first) override {
    if constexpr (has_classify<Handler>)
      return handler_.classify(first);
    else
      return connection_class::ordinary;
  }
  connection_core* make_migrated(event_loop& on) noexcept override {
    if constexpr (can_move)
      return manager_.migrate(*this, on, &migrate_session);
    else
      return nullptr;
  }
  void discard() noexcept override { manager_.discard(*this, &destroy_session); }
  void run_writable() override {
    if constexpr (has_on_writable<Handler>) handler_.on_writable(*this);
  }
  void run_read_eof() override {
    if constexpr (has_on_read_eof<Handler>) handler_.on_read_eof(*this);
  }
  void run_drain() override {
    if constexpr (has_on_drain<Handler>) handler_.on_drain(*this);
  }
  void run_limit(error_code why) override {
    if constexpr (has_on_limit<Handler>) handler_.on_limit(*this, why);
  }
  void run_close(error_code why) noexcept override {
    // The connection is closed already: an exception is only counted.
    if constexpr (has_on_close<Handler>)
      connection_handoff::guarded(*this, [&] { handler_.on_close(static_cast<connection&>(*this), why); });
  }
  [[nodiscard]] const char* handler_type() const noexcept override { return type_text<Handler>(); }
  void destroy() noexcept override { manager_.retire(*this, &destroy_session); }

  session_manager& manager_;
  [[no_unique_address]] Handler handler_;
};

/// A session with a coroutine handler, defined in stream_session.hpp.
template <class Handler>
class stream_session;

template <class Handler>
struct session_type : std::type_identity<stream_session<Handler>> {};
template <message_handler Handler>
struct session_type<Handler> : std::type_identity<message_session<Handler>> {};
template <asio_handler Handler>
struct session_type<Handler> : asio_session_for<Handler> {};
template <class Handler>
using session_for = typename session_type<Handler>::type;

}  // namespace quintet::detail
