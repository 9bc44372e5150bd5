// SPDX-License-Identifier: BSL-1.0
// step_aside: a step of a handshake that a thread beside the loops computes.
#pragma once

#include "../../base/work/work_item.hpp"
#include "../engine/filter/handshake.hpp"
#include "../loop/event_loop.hpp"
#include "../loop/thread_model.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace quintet {

/// Made by new; deletes itself when it has come back to its loop, which ends only then. It knows its handshake and its
/// loop, and nothing of sockets: its receiver may leave meanwhile.
class step_aside final : private loop_member, private work_item {
 public:
  /// The input and the output of the step.
  struct work {
    std::unique_ptr<handshake> of;
    std::string in, out;
    handshake::result done = {};
    bool has_run = false;
  };
  /// For whom it is computed.
  class receiver {
   public:
    /// [loop] The step is over; there is no step_aside any more.
    virtual void returned(work&& w) noexcept = 0;

   protected:
    ~receiver() = default;
  };

  /// [loop] Gives the step to a thread of the model.
  step_aside(event_loop& loop, model_interface& model, receiver& for_whom, work&& w) noexcept;
  /// [loop] The receiver leaves. A step that has not begun will not.
  void abandon() noexcept;
  /// [loop] Takes the work from its thread. Waits for the end of a step that runs, which is less than some
  /// milliseconds. Afterwards the receiver hears nothing.
  [[nodiscard]] work take_back() noexcept;

 private:
  enum class state : std::uint32_t { waits, runs, has_run, is_taken };

  ~step_aside() = default;
  void run() noexcept;
  void come_back() noexcept;
  void abort() noexcept override {}  // the loop waits for what a thread will post
  [[nodiscard]] bool take_before_it_runs() noexcept;

  event_loop& loop_;
  receiver* receiver_;
  work work_;  // of the thread while `runs`, else of the loop
  std::atomic<state> state_{state::waits};
};

}  // namespace quintet
