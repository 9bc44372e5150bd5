// SPDX-License-Identifier: BSL-1.0
// compute: where handlers run. One half of a threading model; the other half is placement.
#pragma once

#include "inline_policy.hpp"
#include "per_loop.hpp"
#include "worker_pool.hpp"

#include <memory>
#include <utility>

namespace quintet {

/// Runs handlers on the loop that read the input. The functions of stream::offload() have `helpers` threads; 0: they
/// run there, too.
class run_inline {
 public:
  explicit run_inline(unsigned helpers = 0) {
    if (helpers > 0) helpers_ = std::make_unique<worker_pool>(fixed(helpers), duration(), worker_pool::starts::later);
  }
  /// Throws boost::system::system_error if the system refuses a thread.
  void start() {
    if (helpers_) helpers_->start();
  }
  /// [loop]
  void run(work_item& item) noexcept { item(); }
  /// [loop]
  void offload(work_item& item) noexcept {
    if (!helpers_) return item();
    item.hand_off();
    helpers_->submit(item);
  }
  void stop() noexcept {
    if (helpers_) helpers_->stop();
  }
  /// [any thread]
  [[nodiscard]] static constexpr bool runs_inline() noexcept { return true; }
  [[nodiscard]] worker_statistics workers() const { return helpers_ ? helpers_->statistics() : worker_statistics(); }

 private:
  static worker_limits fixed(unsigned threads) noexcept { return {.min = threads, .max = threads}; }
  std::unique_ptr<worker_pool> helpers_;
};

/// Runs handlers on a pool of threads: fixed when min == max, elastic otherwise.
class run_pooled {
 public:
  /// `threshold`: work whose known cost is not above it is cheap, and shares wake-ups; see worker_pool.
  explicit run_pooled(const worker_limits& limits, duration threshold = offload_options().threshold)
      : pool_(std::make_unique<worker_pool>(limits, threshold, worker_pool::starts::later)) {}
  /// Throws boost::system::system_error if the system refuses one of the first `min` threads.
  void start() { pool_->start(); }
  /// [loop]
  void run(work_item& item) noexcept {
    item.hand_off();
    pool_->submit(item);
  }
  /// Joins the threads. The counters stay.
  void stop() noexcept { pool_->stop(); }
  /// [any thread] Returns the counters; all 0 before start().
  [[nodiscard]] worker_statistics workers() const { return pool_->statistics(); }

 private:
  std::unique_ptr<worker_pool> pool_;
};

/// Adaptive offloading: the loop runs batches that it predicts to be cheap, and `Elsewhere` runs all others. With
/// offload_policy::always, `Elsewhere` runs everything. It always runs items that are not measured.
template <class Elsewhere>
class run_adaptive {
 public:
  explicit run_adaptive(Elsewhere elsewhere, const offload_options& options = {})
      : elsewhere_(std::move(elsewhere)), options_(options) {
    validate(options_);
  }
  void start() { elsewhere_.start(); }
  /// [loop]
  void run(work_item& item) noexcept {
    if (!item.is_measured() || options_.policy == offload_policy::always) return elsewhere_.run(item);
    event_loop& loop = *event_loop::current();
    inline_policy* const policy = gate(loop);
    if (!policy) return elsewhere_.run(item);
    account(loop, *policy);  // of a batch that is still on the stack: its end has led to this call
    if (!policy->runs_inline(item.cost())) return elsewhere_.run(item);
    item();
    account(loop, *policy);
  }
  /// [loop] Null without memory, and if nothing runs here.
  [[nodiscard]] inline_policy* gate(event_loop& on) noexcept {
    return options_.policy == offload_policy::always ? nullptr : policies_->of(on, on.time(), options_);
  }
  void stop() noexcept { elsewhere_.stop(); }
  /// [any thread]
  [[nodiscard]] worker_statistics workers() const
    requires requires(const Elsewhere& e) { e.workers(); }
  {
    return elsewhere_.workers();
  }
  /// [any thread]
  [[nodiscard]] offload_statistics offloads() const {
    offload_statistics sum;
    policies_->each([&sum](const inline_policy& p) { sum.add(p.counters()); });
    return sum;
  }

 private:
  static void account(event_loop& loop, inline_policy& policy) noexcept {
    if (policy.account(loop.handler_time())) [[unlikely]]
      loop.note_handler_time(duration::zero());  // so that it counts once
  }

  Elsewhere elsewhere_;
  offload_options options_;
  std::unique_ptr<per_loop<inline_policy>> policies_ = std::make_unique<per_loop<inline_policy>>();
};

}  // namespace quintet
