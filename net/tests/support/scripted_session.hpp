// SPDX-License-Identifier: BSL-1.0
// scripted_session: a connection whose handler is a function of the test, and whose thread model is the test.
#pragma once

#include <quintet/net/connection/connection.hpp>

#include "part_world.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace quintet::testing {

/// The smallest session. If batches do not run inline, `dispatched` holds the items for the thread model.
class scripted_session final : public connection {
 public:
  /// `takes_over`: the session continues a connection that has migrated.
  scripted_session(event_loop& loop, connection_host& host, detail::handoff_constants constants,
                   bool takes_over = false)
      : connection(loop, host, constants, takes_over), runs_here_(constants.runs_here) {}

  [[nodiscard]] detail::connection_core& core() noexcept { return *this; }
  [[nodiscard]] stream_channel& channel() noexcept { return *this; }
  /// Runs the oldest dispatched item, as a pool's thread would.
  void run_dispatched() {
    work_item* const next = dispatched.front();
    dispatched.pop_front();
    (*next)();
  }

  /// The handler; returns how many bytes of the input it consumes.
  std::function<std::size_t(connection&, bytes)> handler = [](connection&, bytes in) { return in.size(); };
  std::deque<work_item*> dispatched;
  std::vector<std::string> batches;
  std::vector<error_code> closed;
  bool is_destroyed = false;
  connection* migrated = nullptr;
  connection_class chosen = connection_class::ordinary;  ///< result of classify()

 private:
  error_code begin(stream_handle&& stream) noexcept override { return open(std::move(stream), {.close = true}); }
  void dispatch(quintet::work_item& item) noexcept override {
    if (runs_here_) return item();
    item.hand_off();
    dispatched.push_back(&item);
  }
  void run_open() override {}
  std::size_t run_batch(bytes input) override {
    batches.emplace_back(input);
    return handler(*this, input);
  }
  connection_class run_classify(bytes) override { return chosen; }
  void run_writable() override {}
  void run_close(error_code why) noexcept override { closed.push_back(why); }
  void destroy() noexcept override { is_destroyed = true; }
  detail::connection_core* make_migrated(event_loop&) noexcept override { return migrated; }
  [[nodiscard]] const char* handler_type() const noexcept override { return "scripted"; }

  bool runs_here_;
};

/// An open session on a scripted engine.
struct session_world : part_world {
  explicit session_world(detail::handoff_constants constants, const connection_limits& limits = {.linger_timeout = {}},
                         scripted_engine::journal script = {})
      : part_world(limits, {}, std::move(script)), session(loop, host, constants) {
    turn([this] { BOOST_TEST(!core().open(7, {.close = true})); });
  }
  /// Runs a turn, because the baton may be in transit to the loop.
  ~session_world() {
    turn([] {});
  }
  session_world(const session_world&) = delete;
  session_world& operator=(const session_world&) = delete;

  [[nodiscard]] detail::connection_core& core() noexcept { return session.core(); }
  void arrive(bytes data) {
    turn([this, data] { session.channel().on_received(data); });
  }

  scripted_session session;
};

}  // namespace quintet::testing
