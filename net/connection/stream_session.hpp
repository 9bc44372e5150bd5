// SPDX-License-Identifier: BSL-1.0
// stream_session: a stream with its coroutine handler.
#pragma once

#include "../watch/type_text.hpp"
#include "session.hpp"
#include "stream.hpp"

#include <utility>

namespace quintet::detail {

template <class Handler>
class stream_session final : public stream {
 public:
  static constexpr bool can_move = false;  // the coroutine's frame refers to this object

  static session_manager::session_ptr make(session_manager& manager, event_loop& loop, connection_host& host,
                                           Handler handler) {
    return {new stream_session(manager, loop, host, std::move(handler)), {&destroy_session}};
  }

  /// [loop] Returns the handler of an ended session, which must be of this type.
  static Handler& handler_of(connection_core& ended) noexcept { return static_cast<stream_session&>(ended).handler_; }

 private:
  stream_session(session_manager& manager, event_loop& loop, connection_host& host, Handler handler)
      : stream(loop, host), manager_(manager), handler_(std::move(handler)) {}
  static void destroy_session(connection_core& c) noexcept { delete static_cast<stream_session*>(&c); }

  error_code begin(stream_handle&& s) noexcept override { return open(std::move(s), {.open = true, .close = true}); }
  void dispatch(quintet::work_item& item) noexcept override {
    if (manager_.runs_here(loop()) && !manager_.model().runs_inline()) return item();  // the priority loop
    manager_.model().offload(item);
  }
  awaitable<> make_coroutine() override { return handler_(static_cast<stream&>(*this)); }
  [[nodiscard]] const char* handler_type() const noexcept override { return type_text<Handler>(); }
  void destroy() noexcept override { manager_.retire(*this, &destroy_session); }

  session_manager& manager_;
  Handler handler_;
};

}  // namespace quintet::detail
