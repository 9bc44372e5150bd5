// SPDX-License-Identifier: BSL-1.0
// thread_model: what a server asks about threads: which loop owns a connection, and which thread runs work. A concept
// for those who write a model, model_interface for code that does not depend on its type, model_adapter from one to the
// other.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/metrics/counter.hpp"
#include "../../base/work/work_item.hpp"
#include "event_loop.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace quintet {

/// The requirements of a thread model:
///
///   start(main)   called before the first connection, on the main loop's thread. The main loop outlives the model's
///                 threads
///   place()       called on the main loop's thread. Returns the loop that owns the next connection. May throw: the
///                 connection is then refused
///   run(w)        called on a loop's thread. Runs w exactly once, at once or on another thread. For another thread it
///                 must first call w.hand_off() on the calling thread
///   stop()        called when the main loop has ended. Ends all threads. A loop ends when its connections have left,
///                 and these may wait for work on other threads. So end the loops first, then the other threads
///
/// Optional:
///
///   place(from)       place() for a connection accepted from this address
///   wants_address()   with place(from): whether the address may change the result
///   release(loop)     called on that loop's thread: a connection that place() or occupy() counted there has left
///   occupy(loop)      called on any thread: a connection migrates to this loop, one of each_loop(). Its old loop is
///                     told by release()
///   runs_inline()     called on any thread, constant: whether run(w) always runs w at once on the calling thread.
///                     Connections then do not call run()
///   each_loop(f)      called before start(): calls f(event_loop&) for each loop that place() may return, in order.
///                     Only for models whose loops exist from the beginning. Such loops can accept, and connections
///                     can migrate between them
///   offload(w)        called on a loop's thread, as run(w): runs the function of stream::offload(). Default: run(w)
///   aside(w)          called on a loop's thread, as run(w), if aside_threads() is above 0: runs w where it delays
///                     neither loops nor handlers. w computes for a few milliseconds
///   end_aside()       called once, when no loop runs any more, before the first of them is destroyed: joins the
///   threads
///                     of aside(), which may still be about to wake a loop. aside() then runs w at once
///   aside_threads()   called on any thread, constant: how many threads aside() has
///   gate(loop)        called on that loop's thread: returns the inline_gate* of run() there, or null
///   each_counters(f)  called on any thread: calls f(const loop_counters&) for each present or past loop except the
///                     main loop
///   add_to(figures)   called on any thread: adds what the model counts beside its loops to the model_figures
template <class M>
concept thread_model = requires(M& m, event_loop& main, work_item& w) {
  { m.start(main) } -> std::same_as<void>;
  { m.place() } -> std::same_as<event_loop&>;
  { m.run(w) } -> std::same_as<void>;
  { m.stop() } -> std::same_as<void>;
};

/// Tells a connection that its model would run a batch at once, on the loop that has received it. Such batches take the
/// connection's fast path. One for a model and a loop. All functions: [loop].
class inline_gate {
 public:
  /// Returns whether the model would run it at once. `cost`: the cost of the connection's recent batches. Then the
  /// caller runs it, measures it, and calls account(). If not, the caller asks the model, which counts why.
  [[nodiscard]] bool admits(work_cost cost) noexcept {
    if (!limit_.is_cheap(cost) || holds_back_) [[unlikely]]
      return false;
    usual_.blend(cost);
    admitted_.add();
    return true;
  }
  /// Accounts for a batch that the loop ran itself. Returns whether it took longer than it may.
  bool account(duration took) noexcept {
    if (took <= threshold_) [[likely]]
      return false;
    overrun(took);
    return true;
  }

 protected:
  /// Batches that cost more than `threshold` are expensive. `admitted` counts those that are not.
  inline_gate(duration threshold, counter& admitted) noexcept
      : admitted_(admitted), limit_(threshold), threshold_(threshold) {}
  ~inline_gate() = default;
  virtual void overrun(duration took) noexcept = 0;

  counter& admitted_;
  const cost_limit limit_;
  const duration threshold_;
  work_cost usual_;          // of all connections
  bool holds_back_ = false;  // since an overrun: only the model decides
};

/// The figures of models beside those of their loops, which the layer of the models defines.
struct model_figures;

/// The functions of `thread_model`, which documents each of them. Optional functions have a default here.
class model_interface {
 public:
  model_interface() noexcept;
  virtual ~model_interface() = default;
  model_interface(const model_interface&) = delete;
  model_interface& operator=(const model_interface&) = delete;

  virtual void start(event_loop& main) = 0;
  virtual void stop() noexcept = 0;
  /// [loop] Runs the item exactly once, on this thread or another.
  virtual void run(work_item& item) noexcept = 0;

  /// [loop] The same for the function of stream::offload().
  virtual void offload(work_item& item) noexcept { run(item); }

  /// [loop] Runs the item, which computes for some milliseconds at most, beside all loops and handlers. Only if
  /// aside_threads() is above 0.
  virtual void aside(work_item& item) noexcept { item(); }
  /// Joins the threads of aside(). No loop runs any more.
  virtual void end_aside() noexcept {}
  /// [any thread] Returns how many threads aside() has. Constant.
  [[nodiscard]] virtual unsigned aside_threads() const noexcept { return 0; }

  /// [loop] Main loop only. Picks the loop of the next connection. May throw.
  virtual event_loop& place() = 0;
  /// [loop] Main loop only. Picks the loop of a connection from this address. Called only if wants_address() is true.
  virtual event_loop& place(const address& /*from*/) { return place(); }
  [[nodiscard]] virtual bool wants_address() const noexcept { return false; }
  /// [loop] A connection that place() or occupy() counted on this loop has closed or migrated.
  virtual void release(event_loop& /*loop*/) noexcept {}
  /// [any thread] A connection migrates to this loop from another one.
  virtual void occupy(event_loop& /*loop*/) noexcept {}

  /// [any thread] Whether run() always runs the item at once on the caller's thread. Constant.
  [[nodiscard]] virtual bool runs_inline() const noexcept { return false; }
  /// [loop] Returns what runs at once on this loop, if run() decides that by cost; else null.
  [[nodiscard]] virtual inline_gate* gate(event_loop& /*on*/) noexcept { return nullptr; }
  /// [loop] The same. The loop remembers it.
  [[nodiscard]] inline_gate* known_gate(event_loop& on) noexcept {
    event_loop::gate_of_model& known = on.known_gate();
    if (known.model != number_) [[unlikely]]
      known = {number_, gate(on)};
    return known.gate;
  }
  /// [before run] Returns the loops that live as long as the model. They can accept, and connections can migrate
  /// between them. Empty if the model does not tell.
  [[nodiscard]] virtual std::vector<event_loop*> loops() { return {}; }
  /// [any thread] Calls f with the counters of each present or past loop of the model, except the main loop.
  virtual void each_counters(const std::function<void(const loop_counters&)>& /*f*/) const {}
  /// [any thread] Adds the model's own figures.
  virtual void add_to(model_figures& /*sum*/) const {}

 private:
  const std::uint64_t number_;  // of all models of the process
};

/// Hides a model's type from servers and clients. An optional function that the model lacks gets its default.
template <thread_model Model>
class model_adapter final : public model_interface {
 public:
  /// Takes the model over.
  explicit model_adapter(Model m) : model_(std::move(m)) {}

  void start(event_loop& main) override { model_.start(main); }
  void stop() noexcept override { model_.stop(); }
  void run(work_item& item) noexcept override { model_.run(item); }
  void offload(work_item& item) noexcept override {
    if constexpr (requires { model_.offload(item); })
      model_.offload(item);
    else
      model_.run(item);
  }
  void aside(work_item& item) noexcept override {
    if constexpr (requires { model_.aside(item); })
      model_.aside(item);
    else
      item();
  }
  void end_aside() noexcept override {
    if constexpr (requires { model_.end_aside(); }) model_.end_aside();
  }
  [[nodiscard]] unsigned aside_threads() const noexcept override {
    if constexpr (requires { model_.aside_threads(); })
      return model_.aside_threads();
    else
      return 0;
  }
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
  [[nodiscard]] inline_gate* gate(event_loop& on) noexcept override {
    if constexpr (requires { model_.gate(on); })
      return model_.gate(on);
    else
      return nullptr;
  }
  [[nodiscard]] std::vector<event_loop*> loops() override {
    std::vector<event_loop*> loops;
    const auto add = [&loops](event_loop& l) { loops.push_back(&l); };
    if constexpr (requires { model_.each_loop(add); }) model_.each_loop(add);
    return loops;
  }
  void each_counters(const std::function<void(const loop_counters&)>& f) const override {
    if constexpr (requires { model_.each_counters(f); }) model_.each_counters(f);
  }
  void add_to(model_figures& sum) const override {
    if constexpr (requires { model_.add_to(sum); }) model_.add_to(sum);
  }

 private:
  static constexpr bool has_place_of_address = requires(Model& m, const address& from) { m.place(from); };
  Model model_;
};

}  // namespace quintet
