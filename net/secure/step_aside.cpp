// SPDX-License-Identifier: BSL-1.0
// step_aside: changes the thread, and finds out who may touch the work.
#include "step_aside.hpp"

#include "../../base/error.hpp"

#include <new>

namespace quintet {

step_aside::step_aside(event_loop& loop, model_interface& model, receiver& for_whom, work&& w) noexcept
    : work_item([](work_item& self) noexcept { static_cast<step_aside&>(self).run(); }),
      loop_(loop),
      receiver_(&for_whom),
      work_(std::move(w)) {
  loop_.join(*this);
  model.aside(*this);
}

void step_aside::run() noexcept {
  state waits = state::waits;
  if (state_.compare_exchange_strong(waits, state::runs)) {
    try {
      work_.done = work_.of->step(work_.in, work_.out);
    } catch (const std::bad_alloc&) {
      work_.done.failed = make_error_code(boost::system::errc::not_enough_memory);
    }
    work_.has_run = true;
    state_.store(state::has_run);
    state_.notify_one();
  }
  become([](work_item& self) noexcept { static_cast<step_aside&>(self).come_back(); });
  loop_.post(*this);
}

void step_aside::come_back() noexcept {
  loop_.leave(*this);
  receiver* const waiting = receiver_;
  work over = std::move(work_);
  delete this;
  if (waiting) waiting->returned(std::move(over));
}

bool step_aside::take_before_it_runs() noexcept {
  state waits = state::waits;
  receiver_ = nullptr;
  return state_.compare_exchange_strong(waits, state::is_taken);
}

void step_aside::abandon() noexcept {
  if (take_before_it_runs()) work_ = {};
}

step_aside::work step_aside::take_back() noexcept {
  if (!take_before_it_runs()) state_.wait(state::runs);
  return std::move(work_);
}

}  // namespace quintet
