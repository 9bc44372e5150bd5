// SPDX-License-Identifier: BSL-1.0
// securing_queue: whose handshake takes the next step, for one listener on one loop.
#pragma once

#include "../../base/rate_limit.hpp"
#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "../engine/filter/handshake.hpp"
#include "../loop/event_loop.hpp"
#include "../loop/thread_model.hpp"
#include "../options/listen_options.hpp"
#include "handshake_figures.hpp"
#include "securing_stream.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace quintet {

/// A step costs up to a millisecond. Threads of the model compute it, a few steps at a time, so that those whose peer
/// leaves still wait here. Light steps, and all without such threads, are the loop's: one a turn. Handshakes that have
/// begun come first. Others wait while as many as allowed are in progress, or have begun in this second; they hold
/// little memory, and leave when their peer does.
class securing_queue final : private work_item, private timer {
 public:
  /// `model`: has threads for the steps, and outlives the loop; null: the loop computes them. `counted`: counters for
  /// this queue and others, which outlive it.
  securing_queue(event_loop& loop, std::shared_ptr<handshake_source> source, const handshake_limits& limits,
                 model_interface* model = nullptr, handshake_counters* counted = nullptr) noexcept;

  /// [loop] Takes as many steps of handshakes that have begun as what has arrived allows, and stops all streams that
  /// are not done then; or all.
  void finish_or_stop() noexcept;
  void stop() noexcept;
  /// [loop] Returns whether it can be destroyed: no stream is left, and none takes a step.
  [[nodiscard]] bool is_idle() const noexcept { return all_.empty() && !is_scheduled_; }
  /// [any thread]
  [[nodiscard]] const handshake_counters& counters() const noexcept { return counters_; }

 private:
  friend securing_stream;
  [[nodiscard]] bool has_room() const noexcept { return in_progress_ < limits_.at_once; }
  [[nodiscard]] bool goes_aside() const noexcept { return most_aside_ > 0; }
  /// The time until a new handshake may begin, if one waits for no more than that.
  [[nodiscard]] std::optional<duration> next_begins_in() const noexcept;
  [[nodiscard]] bool can_step() const noexcept;
  void take_steps() noexcept;
  void schedule() noexcept;
  void expired() noexcept override { schedule(); }

  event_loop& loop_;
  const std::shared_ptr<handshake_source> source_;
  const handshake_limits limits_;
  model_interface* const model_;
  const unsigned most_aside_;  // steps; 0: the loop computes
  handshake_counters own_counters_;
  handshake_counters& counters_;
  rate_limit rate_;
  std::size_t in_progress_ = 0;
  unsigned aside_ = 0;  // steps
  bool is_scheduled_ = false;
  boost::intrusive::list<securing_stream, boost::intrusive::base_hook<securing_list_hook>,
                         boost::intrusive::constant_time_size<false>>
      all_;
  using turn_list = boost::intrusive::list<securing_stream, boost::intrusive::base_hook<securing_turn_hook>,
                                           boost::intrusive::constant_time_size<false>>;
  turn_list begun_, new_;  // whose next step can be taken
};

}  // namespace quintet
