// SPDX-License-Identifier: BSL-1.0
// model_adapter: makes a model_interface of any thread_model.
#pragma once

#include "model_interface.hpp"
#include "thread_model.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace quintet {

/// Owns a model. `Interface` is model_interface, or extends it with functions that a derived adapter implements.
template <thread_model Model, class Interface = model_interface>
class model_adapter : public Interface {
 public:
  explicit model_adapter(Model m) : model_(std::move(m)) {}
  /// [any thread] The model itself.
  [[nodiscard]] const Model& get() const noexcept { return model_; }

  void start(event_loop& main) override { model_.start(main); }
  void stop() noexcept override { model_.stop(); }
  void run(work_item& item) noexcept override { model_.run(item); }
  event_loop& place() override { return model_.place(); }
  event_loop& place(const address& from) override {
    if constexpr (has_place_of_address)
      return model_.place(from);
    else
      return model_.place();
  }
  [[nodiscard]] bool wants_address() const noexcept override {
    if constexpr (!has_place_of_address)
      return false;
    else if constexpr (requires { model_.wants_address(); })
      return model_.wants_address();
    else
      return true;
  }
  void release(event_loop& loop) noexcept override {
    if constexpr (requires { model_.release(loop); }) model_.release(loop);
  }
  void occupy(event_loop& loop) noexcept override {
    if constexpr (requires { model_.occupy(loop); }) model_.occupy(loop);
  }
  [[nodiscard]] bool runs_inline() const noexcept override {
    if constexpr (requires { model_.runs_inline(); })
      return model_.runs_inline();
    else
      return false;
  }
  [[nodiscard]] std::vector<event_loop*> lasting_loops() override {
    std::vector<event_loop*> loops;
    const auto add = [&loops](event_loop& l) { loops.push_back(&l); };
    if constexpr (requires { model_.each_loop(add); }) model_.each_loop(add);
    return loops;
  }
  void each_counters(const std::function<void(const loop_counters&)>& f) const override {
    if constexpr (requires { model_.each_counters(f); }) model_.each_counters(f);
  }

 private:
  static constexpr bool has_place_of_address = requires(Model& m, const address& from) { m.place(from); };
  Model model_;
};

namespace detail {

/// Defines how a server stores a model, and that the server's model() returns the model itself.
template <thread_model Model>
struct model_storage {
  using type = Model;
  static std::unique_ptr<model_interface> store(Model m) {
    return std::make_unique<model_adapter<Model>>(std::move(m));
  }
  static const type& get(const model_interface& stored) noexcept {
    return static_cast<const model_adapter<Model>&>(stored).get();
  }
};
/// Specialisation for a model that has its own interface and releases it: model() returns that interface.
template <thread_model Model>
  requires requires { typename Model::interface_type; }
struct model_storage<Model> {
  using type = typename Model::interface_type;
  static std::unique_ptr<model_interface> store(Model m) { return std::move(m).release(); }
  static const type& get(const model_interface& stored) noexcept { return static_cast<const type&>(stored); }
};

}  // namespace detail
}  // namespace quintet
