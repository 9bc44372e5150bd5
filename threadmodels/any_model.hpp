// SPDX-License-Identifier: BSL-1.0
// any_model: the threading model that is chosen at run time; itself a thread_model, like the five it holds.
#pragma once

#include "../net/loop/placing.hpp"
#include "../net/loop/thread_model.hpp"
#include "compute/thread_options.hpp"
#include "model.hpp"
#include "models.hpp"

#include <variant>

namespace quintet {

struct model_options {
  model kind = model::loop_per_thread;
  thread_options threads = {.loops = 1};
  engine_kind engine = engine_kind::automatic;
  loop_tuning loop = {};             ///< of the model's own loops
  placement_options placement = {};  ///< models 4 and 5
};

class any_model {
 public:
  explicit any_model(const model_options& o) : model_(make(o)), run_(runner_of(model_)) {}

  void start(event_loop& main) {
    std::visit([&](auto& m) { m.start(main); }, model_);
  }
  event_loop& place() {
    return std::visit([](auto& m) -> event_loop& { return m.place(); }, model_);
  }
  event_loop& place(const address& from) {
    return std::visit(
        [&](auto& m) -> event_loop& {
          if constexpr (requires { m.place(from); })
            return m.place(from);
          else
            return m.place();
        },
        model_);
  }
  /// Whether place() looks at the address: it is asked of the kernel for each connection.
  [[nodiscard]] bool wants_address() const noexcept {
    return std::visit(
        [](const auto& m) {
          if constexpr (requires { m.wants_address(); })
            return m.wants_address();
          else
            return false;
        },
        model_);
  }
  /// [loop] The chosen model's compute runs the item, here or elsewhere.
  void run(work_item& item) noexcept { run_(model_, item); }
  [[nodiscard]] bool runs_inline() const noexcept {
    return std::visit([](const auto& m) { return detail::runs_inline(m); }, model_);
  }
  void release(event_loop& loop) {
    std::visit(
        [&](auto& m) {
          if constexpr (requires { m.release(loop); }) m.release(loop);
        },
        model_);
  }
  void occupy(event_loop& loop) noexcept {
    std::visit(
        [&](auto& m) {
          if constexpr (requires { m.occupy(loop); }) m.occupy(loop);
        },
        model_);
  }
  template <class F>
  void each_loop(F f) {
    std::visit(
        [&](auto& m) {
          if constexpr (requires { m.each_loop(f); }) m.each_loop(f);
        },
        model_);
  }
  void stop() noexcept {
    std::visit([](auto& m) { m.stop(); }, model_);
  }
  /// [any thread]
  [[nodiscard]] offload_statistics offloads() const {
    return std::visit(
        [](const auto& m) {
          if constexpr (requires { m.offloads(); })
            return m.offloads();
          else
            return offload_statistics();
        },
        model_);
  }
  /// [any thread]
  [[nodiscard]] worker_statistics workers() const {
    return std::visit(
        [](const auto& m) {
          if constexpr (requires { m.workers(); })
            return m.workers();
          else
            return worker_statistics();
        },
        model_);
  }
  template <class F>
  void each_counters(F f) const {
    std::visit(
        [&](const auto& m) {
          if constexpr (requires { m.each_counters(f); }) m.each_counters(f);
        },
        model_);
  }

 private:
  using variant =
      std::variant<thread_per_connection, single_reactor, reactor_pool, loop_per_thread, loop_per_thread_pool>;
  using runner = void (*)(variant& chosen, work_item& item) noexcept;
  static variant make(const model_options& o);
  static runner runner_of(const variant& chosen) noexcept {
    return std::visit(
        []<class M>(const M&) -> runner {
          return [](variant& v, work_item& item) noexcept { std::get_if<M>(&v)->run(item); };
        },
        chosen);
  }
  variant model_;
  runner run_;  // each batch of models 3 and 5 comes by here: std::visit takes 5 instructions more
};

static_assert(thread_model<any_model> && thread_model<thread_per_connection> && thread_model<single_reactor> &&
              thread_model<reactor_pool> && thread_model<loop_per_thread> && thread_model<loop_per_thread_pool>);

}  // namespace quintet
