// SPDX-License-Identifier: BSL-1.0
// loop_thread: starting, naming, pinning and joining.
#include "loop_thread.hpp"

#include "../watch/pinning.hpp"
#include "prepared_thread.hpp"

#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <boost/system/system_error.hpp>

namespace quintet {
namespace {

/// Returns 0 or errno. Some containers refuse every unshare(). The close_range() call does the same and closes nothing.
int separate_descriptors() noexcept {
  if (::unshare(CLONE_FILES) == 0 || ::close_range(~0U, ~0U, CLOSE_RANGE_UNSHARE) == 0) return 0;
  return errno;
}

/// Applies the options to the calling thread. Throws.
void apply_options(const loop_options& options, engine& io) {
  const auto require = [](int error, const std::string& what) {
    if (error != 0) throw_system_error(error, what);
  };
  if (options.cpu >= 0) require(stay_on(options.cpu), "cannot pin a loop to CPU " + std::to_string(options.cpu));
  if (options.own_descriptors)
    require(separate_descriptors(), "cannot give a loop its own descriptor table (own_descriptors)");
  io.prepare();
}

}  // namespace

loop_thread::loop_thread(event_loop& loop, const std::string& name, std::function<void()> first) : loop_(loop) {
  if (loop.options().cpu < 0 && !loop.options().own_descriptors && !first &&
      !loop.io().capabilities().needs_prepare) {  // nothing can fail on the thread
    thread_ = start_thread(name, [&loop] { loop.run(); });
    return;
  }
  const auto prepare = [&loop, first = std::move(first)] {
    apply_options(loop.options(), loop.io());
    if (first) first();
  };
  thread_ = detail::start_prepared_thread(name, prepare, [&loop] { loop.run(); });
}

loop_thread::~loop_thread() {
  loop_.stop();
  thread_.join();
}

}  // namespace quintet
