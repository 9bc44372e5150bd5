// SPDX-License-Identifier: BSL-1.0
// run_aside: starts threads when they are needed.
#include "run_aside.hpp"

#include <boost/system/system_error.hpp>

namespace quintet {

struct run_aside::threads {
  explicit threads(unsigned most)
      : pool({.min = 1, .max = most}, duration(), worker_pool::starts::later, {"qnt-aside-", 10}) {}
  std::once_flag once;
  bool are_started = false;
  worker_pool pool;
};

void run_aside::joined::operator()(threads* all) const noexcept { delete all; }

run_aside::run_aside(unsigned most) : most_(most) {
  if (most > 0) threads_.reset(new threads(most));
}

void run_aside::aside(work_item& item) noexcept {
  std::call_once(threads_->once, [this]() noexcept {
    try {
      threads_->pool.start();
      threads_->are_started = true;
    } catch (const boost::system::system_error&) {  // this thread will do
    }
  });
  if (!threads_->are_started) return item();
  item.hand_off();
  threads_->pool.submit(item);
}

}  // namespace quintet
