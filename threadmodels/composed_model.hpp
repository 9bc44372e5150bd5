// SPDX-License-Identifier: BSL-1.0
// composed_model: a threading model is a placement and a compute, and nothing else.
#pragma once

#include "compute/compute.hpp"
#include "placement/placement.hpp"

#include <utility>

namespace quintet {

template <class Placement, class Compute>
class composed_model {
 public:
  explicit composed_model(Placement p = Placement(), Compute c = Compute())
      : placement_(std::move(p)), compute_(std::move(c)) {}

  void start(event_loop& main) {
    compute_.start();
    placement_.start(main);
  }
  event_loop& place() { return placement_.place(); }
  event_loop& place(const address& from)
    requires requires(Placement& p) { p.place(from); }
  {
    return placement_.place(from);
  }
  [[nodiscard]] bool wants_address() const noexcept
    requires requires(const Placement& p) { p.wants_address(); }
  {
    return placement_.wants_address();
  }
  void run(work_item& item) noexcept { compute_.run(item); }
  [[nodiscard]] bool runs_inline() const noexcept { return Compute::runs_inline; }
  void release(event_loop& loop)
    requires requires(Placement& p) { p.release(loop); }
  {
    placement_.release(loop);
  }
  void occupy(event_loop& loop) noexcept
    requires requires(Placement& p) { p.occupy(loop); }
  {
    placement_.occupy(loop);
  }
  template <class F>
    requires requires(Placement& p, F f) { p.each_loop(f); }
  void each_loop(F f) {
    placement_.each_loop(f);
  }
  void stop() noexcept {  // a loop ends when its batons are at home, and they may be on the pool: loops first
    placement_.stop();
    compute_.stop();
  }
  [[nodiscard]] worker_statistics workers() const
    requires requires(const Compute& c) { c.workers(); }
  {
    return compute_.workers();
  }
  template <class F>
    requires requires(const Placement& p, F f) { p.each_counters(f); }
  void each_counters(F f) const {
    placement_.each_counters(f);
  }

 private:
  Placement placement_;
  Compute compute_;
};

}  // namespace quintet
