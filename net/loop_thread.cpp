// SPDX-License-Identifier: BSL-1.0
// loop_thread: starting, naming and joining.
#include <quintet/net/loop_thread.hpp>

#include <pthread.h>
#include <sched.h>

#include <utility>

namespace quintet {

void name_this_thread(const std::string& name) noexcept {
  (void)::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
}

loop_thread::loop_thread(event_loop& loop, std::string name)
    : loop_(loop), thread_([&loop, name = std::move(name)] {
        name_this_thread(name);
        loop.run();
      }) {}

loop_thread::~loop_thread() {
  loop_.stop();
  thread_.join();
}

bool loop_thread::raise_priority() noexcept {
  sched_param parameter{};
  parameter.sched_priority = ::sched_get_priority_min(SCHED_RR);
  return ::pthread_setschedparam(thread_.native_handle(), SCHED_RR, &parameter) == 0;
}

}  // namespace quintet
