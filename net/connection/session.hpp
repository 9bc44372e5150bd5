// SPDX-License-Identifier: BSL-1.0
// session: a connection together with its handler: message_session for callbacks, stream_session for coroutines.
#pragma once

#include "handler.hpp"
#include "urgent_frames.hpp"

#include <type_traits>
#include <typeinfo>
#include <utility>

namespace quintet::detail {

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
inline constexpr bool has_sift = requires(H& h, bytes in, urgent_findings& found) { h.sift(in, true, found); };
template <class H>
inline constexpr bool has_on_read_eof = requires(H& h, connection& c) { h.on_read_eof(c); };
template <class H>
inline constexpr bool has_on_drain = requires(H& h, connection& c) { h.on_drain(c); };
template <class H>
inline constexpr bool has_on_close = requires(H& h, connection& c, error_code why) { h.on_close(c, why); };

/// A callback handler. `Owner` has run_by_model(item), runs_here(loop), which says that it would always run an
/// item of that loop here and now, retire(session), and discard(session), the same of one that has a migrated; where
/// it `can_migrate`, make_migrated(session, loop) makes that.
template <class Owner, class Handler>
class message_session final : public connection {
 public:
  /// Whether it may have a migrated on another loop.
  static constexpr bool moves = std::is_nothrow_move_constructible_v<Handler> && Owner::can_migrate;

  message_session(Owner& owner, event_loop& loop, connection_host& host, Handler handler)
      : connection(loop, host,
                   {.runs_here = owner.runs_here(loop), .is_watched = host.watchdog != nullptr, .can_move = moves}),
        owner_(owner),
        handler_(std::move(handler)) {}
  /// Takes over from another one.
  message_session(message_session& from, event_loop& loop, connection_host& host) noexcept
    requires std::is_nothrow_move_constructible_v<Handler>
      : connection(loop, host,
                   {.runs_here = from.owner_.runs_here(loop), .is_watched = host.watchdog != nullptr, .can_move = true},
                   true),
        owner_(from.owner_),
        handler_(std::move(from.handler_)) {}
  void begin(int handle) noexcept {
    open(handle, {.open = has_on_open<Handler>,
                  .read_eof = has_on_read_eof<Handler>,
                  .drain = has_on_drain<Handler>,
                  .writable = has_on_writable<Handler>,
                  .overload = has_on_overload<Handler>,
                  .classify = moves && has_classify<Handler>,
                  .urgent = has_sift<Handler>});
  }

 private:
  friend Owner;
  void dispatch(quintet::work_item& item) noexcept override { owner_.run_by_model(item); }
  void run_open() override {
    if constexpr (has_on_open<Handler>) handler_.on_open(*this);
  }
  // The handler is compiled into it: the way from the engine to the handler is one indirect call.
  void on_received(bytes arrived) noexcept override {
    if (!try_fast_path(arrived)) return receive(arrived);
    std::size_t used = arrived.size();
    guarded([&] { used = run_batch(arrived); });
    fast_path_done(arrived, used);
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
  bytes run_sift(bytes arrived, bool at_end, urgent_findings& found) override {
    if constexpr (has_sift<Handler>)
      return handler_.sift(arrived, at_end, found);
    else
      return arrived;
  }
  connection_core* make_migrated(event_loop& on) noexcept override {
    if constexpr (moves)
      return owner_.make_migrated(*this, on);
    else
      return nullptr;
  }
  void discard() noexcept override {
    if constexpr (moves) owner_.discard(this);
  }
  void run_writable() override {
    if constexpr (has_on_writable<Handler>) handler_.on_writable(*this);
  }
  void run_read_eof() override {
    if constexpr (has_on_read_eof<Handler>) handler_.on_read_eof(*this);
  }
  void run_drain() override {
    if constexpr (has_on_drain<Handler>) handler_.on_drain(*this);
  }
  void run_close(error_code why) noexcept override {
    // It is closed already: of an exception only the count is left to do.
    if constexpr (has_on_close<Handler>) guarded([&] { handler_.on_close(static_cast<connection&>(*this), why); });
  }
  [[nodiscard]] const std::type_info& handler_type() const noexcept override { return typeid(Handler); }
  void destroy() noexcept override { owner_.retire(this); }

  Owner& owner_;
  [[no_unique_address]] Handler handler_;
};

/// A coroutine handler.
template <class Owner, class Handler>
class stream_session final : public stream {
 public:
  static constexpr bool moves = false;  // the coroutine's frame refers to this object

  stream_session(Owner& owner, event_loop& loop, connection_host& host, Handler handler)
      : stream(loop, host), owner_(owner), handler_(std::move(handler)) {}
  void begin(int handle) noexcept { open(handle, {.open = true}); }

 private:
  friend Owner;
  void dispatch(quintet::work_item& item) noexcept override {
    if (owner_.runs_here(loop())) return item();
    owner_.run_by_model(item);
  }
  awaitable<> make_coroutine() override { return handler_(static_cast<stream&>(*this)); }
  [[nodiscard]] const std::type_info& handler_type() const noexcept override { return typeid(Handler); }
  void destroy() noexcept override { owner_.retire(this); }

  Owner& owner_;
  Handler handler_;
};

template <class Owner, class Handler>
using session_for =
    typename std::conditional_t<message_handler<Handler>, std::type_identity<message_session<Owner, Handler>>,
                                std::type_identity<stream_session<Owner, Handler>>>::type;

}  // namespace quintet::detail
