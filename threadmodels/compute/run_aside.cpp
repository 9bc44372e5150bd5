// SPDX-License-Identifier: BSL-1.0
// run_aside: starts threads when they are needed.
#include "run_aside.hpp"

#include <mutex>
#include <optional>

namespace quintet {

struct run_aside::threads {
  std::once_flag once;
  std::optional<worker_pool> pool;  // none: the system has refused the first thread
  bool has_ended = false;
};

void run_aside::joined::operator()(threads* all) const noexcept { delete all; }

run_aside::run_aside(unsigned most) : most_(most) {
  if (most > 0) threads_.reset(new threads);
}

void run_aside::aside(work_item& item) noexcept {
  if (threads_->has_ended) return item();
  std::call_once(threads_->once, [this]() noexcept {
    try {
      threads_->pool.emplace(worker_limits{.min = 1, .max = most_}, duration(), worker_pool::starts::now,
                             worker_kind{.name = "qnt-aside-", .nice = 10});
    } catch (...) {  // no thread, or no memory for it: this one will do
    }
  });
  if (!threads_->pool) return item();
  item.hand_off();
  threads_->pool->submit(item);
}

// The pool itself stays: it has timers on the loops.
void run_aside::end_aside() noexcept {
  if (!threads_) return;
  threads_->has_ended = true;
  if (threads_->pool) threads_->pool->stop();
}

}  // namespace quintet
