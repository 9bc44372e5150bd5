// SPDX-License-Identifier: BSL-1.0
// asio_wake_ups: an expired timer ends a wait, and its clock wakes the waiting thread, which is this one.
#include "asio_wake_ups.hpp"

#include "../../base/error.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <cerrno>
#include <chrono>

namespace quintet::detail {
namespace {

namespace asio = boost::asio;

/// A wait in a context. Asio asks a timer's clock for the time within the wait. There, stop() makes the system call
/// that wakes a thread, and leaves its error in errno.
struct probed_wait {
  explicit probed_wait(asio::io_context& where) noexcept;
  ~probed_wait();
  probed_wait(const probed_wait&) = delete;
  probed_wait& operator=(const probed_wait&) = delete;
  void probe() noexcept {
    errno = 0;
    context.stop();
    error = errno;
    is_done = true;
  }
  asio::io_context& context;
  int error = 0;
  bool is_done = false;
};

thread_local probed_wait* current = nullptr;

probed_wait::probed_wait(asio::io_context& where) noexcept : context(where) { current = this; }
probed_wait::~probed_wait() { current = nullptr; }

struct probe_clock {
  using duration = std::chrono::steady_clock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<probe_clock>;
  [[maybe_unused]] static constexpr bool is_steady = true;
  static time_point now() noexcept {
    if (current) current->probe();
    return time_point(std::chrono::steady_clock::now().time_since_epoch());
  }
};

}  // namespace

void prove_wake_ups(asio::io_context& fresh) {
  asio::basic_waitable_timer<probe_clock> expired(fresh, probe_clock::time_point());
  expired.async_wait([](const error_code&) {});
  bool is_woken = false;
  {
    probed_wait wait(fresh);
    for (int i = 0; i < 10 && !wait.is_done; ++i) fresh.run_one_for(std::chrono::milliseconds(100));
    is_woken = wait.is_done && wait.error == 0;  // ENOENT: its descriptor is not watched
  }
  fresh.restart();
  expired.cancel();
  fresh.poll();
  fresh.restart();
  if (!is_woken)
    throw_system_error(ENOSPC, "cannot create an event loop: the kernel does not watch the descriptors of Boost.Asio");
}

}  // namespace quintet::detail
