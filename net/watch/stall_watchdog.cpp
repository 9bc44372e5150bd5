// SPDX-License-Identifier: BSL-1.0
// stall_watchdog: finds a thread in the same call twice, and reports it.
#include "stall_watchdog.hpp"

#include "../../base/work/next_number.hpp"
#include "backtrace.hpp"
#include "thread_name.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace quintet {
namespace {

constexpr duration patience = std::chrono::seconds(2);  // wait for a thread that does not answer

}  // namespace

stall_watchdog::stall_watchdog(const stall_options& options, const log_hook& log, peer_function peer_of)
    : options_(options), log_(log), peer_of_(std::move(peer_of)), number_(next_number<stall_watchdog>()) {}

// If two servers on one thread have watchdogs, each may come here again and again.
void stall_watchdog::register_this_thread() noexcept {
  const std::shared_ptr<activity> mine = activity::of_this_thread();
  if (!mine) return;
  try {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(threads_, mine, &watched::thread) == threads_.end()) threads_.push_back({mine});
    mine->watchdog_number = number_;
  } catch (const std::exception&) {  // the next call tries again
  }
}

void stall_watchdog::start() {
  watch_this_thread();
  thread_ = std::thread([this] { run(); });
}

void stall_watchdog::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void stall_watchdog::run() noexcept {
  name_this_thread("qnt-watchdog");
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, options_.bound / 2, [this] { return stopping_; })) {
    const std::vector<suspect> suspects = find_stalls(clock::system().now());
    if (suspects.empty()) continue;
    lock.unlock();
    for (const suspect& s : suspects) report_stall(s);
    lock.lock();
  }
}

// Call with mutex_ locked.
std::vector<stall_watchdog::suspect> stall_watchdog::find_stalls(time_point now) noexcept {
  std::vector<suspect> found;
  // Returns false if there is no memory; the next look finds the stall again.
  const auto note = [&found](suspect s) noexcept {
    try {
      found.push_back(std::move(s));
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  };
  std::erase_if(threads_, [](const watched& w) { return w.thread->has_ended(); });
  for (watched& w : threads_) {
    const std::uint64_t call = w.thread->current_call();
    if (call == 0 || call != w.call) {
      w = {std::move(w.thread), call, now};
    } else if (!w.is_reported && now - w.since >= options_.bound) {
      w.is_reported = note({w.thread, call, now - w.since});
    }
  }
  return found;
}

void stall_watchdog::report_stall(const suspect& s) noexcept try {
  if (!log_ && !options_.on_stall) {  // nobody would read the report: leave the thread alone
    stalls_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  activity::snapshot found;
  const activity::answer answer = s.thread->ask(s.call, patience, found);
  if (answer == activity::answer::call_ended) return;
  const std::string name = s.thread->thread_name();
  stall what{.thread = name, .lasted = s.lasted};
  std::string function, peer;
  std::vector<std::string> backtrace;
  if (answer == activity::answer::given) {
    what.call = to_string(found.what);
    what.function = function = found.type ? readable_type(found.type) : std::string();
    what.connection = found.id;
    what.peer = peer = peer_of_(found.id);
    what.backtrace = backtrace = describe_stack(found.stack());
  }
  stalls_.fetch_add(1, std::memory_order_relaxed);
  report_to_hooks(what);
} catch (...) {
  // A hook threw, or there is no memory. The rest of the report is lost.
}

void stall_watchdog::report_to_hooks(const stall& s) const {
  if (log_) report(log_, {.level = severity::warning, .what = to_string(s), .address = s.peer});
  if (options_.on_stall) options_.on_stall(s);
}

}  // namespace quintet
