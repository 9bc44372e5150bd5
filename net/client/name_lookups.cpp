// SPDX-License-Identifier: BSL-1.0
// name_lookups: the table of look-ups, their threads, and getaddrinfo.
#include "name_lookups.hpp"

#include "../loop/event_loop.hpp"
#include "../loop/placing.hpp"
#include "../watch/thread_name.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include <netdb.h>
#include <unistd.h>

namespace quintet::detail {

using request_list = boost::intrusive::list<name_lookups::request, boost::intrusive::constant_time_size<false>>;

struct lookup_job {
  std::string host, port;
  std::size_t most = 0;  // it begins only while fewer are in progress, slow ones not counted
  bool is_running = false;
  std::chrono::steady_clock::time_point begun{};
  request_list requests;
  lookup_answer answer;
};

struct name_lookups::state {
  using time = std::chrono::steady_clock::time_point;
  state(function f, duration slow) : look_up(std::move(f)), slow_after(slow) {}

  /// Returns the first look-up that may begin, or null.
  [[nodiscard]] std::shared_ptr<lookup_job> next() const noexcept {
    const std::size_t counted = count_fast();
    const auto found = std::ranges::find_if(jobs, [&](const auto& job) {
      return !job->is_running && counted < job->most && running < job->most * most_threads;
    });
    return found == jobs.end() ? nullptr : *found;
  }
  void begin(lookup_job& job) noexcept {
    job.is_running = true;
    job.begun = std::chrono::steady_clock::now();
    ++running;
  }
  [[nodiscard]] bool has_waiting() const noexcept { return jobs.size() > running; }
  /// Returns when the next look-up becomes slow; time::max(): none will.
  [[nodiscard]] time next_slow() const noexcept {
    time first = time::max();
    for (const auto& job : jobs)
      if (is_fast(*job)) first = std::min(first, job->begun + slow_after);
    return first;
  }
  [[nodiscard]] bool is_fast(const lookup_job& job) const noexcept {
    return job.is_running && std::chrono::steady_clock::now() - job.begun < slow_after;
  }
  [[nodiscard]] std::size_t count_fast() const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(jobs, [this](const auto& job) { return is_fast(*job); }));
  }

  const function look_up;
  const duration slow_after;
  std::mutex mutex;                             // guards what follows
  std::condition_variable changed;              // a look-up has ended, or none waits
  std::list<std::shared_ptr<lookup_job>> jobs;  // running and waiting, in the order of arrival
  std::size_t running = 0;
  bool has_spare = false;  // a thread is in wait_and_run()
};

namespace {

/// Signals of the process are for the program's threads: those started in this scope block all of them. SIGSYS is the
/// thread's own: a sandbox may answer calls by it, and the kernel ends a process that blocks it then.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::sigdelset(&all, SIGSYS);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

error_code error_of_getaddrinfo(int result, int system_error) noexcept {
  namespace reasons = boost::asio::error;
  switch (result) {
    case 0:
      return {};
    case EAI_AGAIN:
      return reasons::host_not_found_try_again;
    case EAI_FAIL:
      return reasons::no_recovery;
    case EAI_MEMORY:
      return make_error_code(boost::system::errc::not_enough_memory);
    case EAI_SERVICE:
      return reasons::service_not_found;
    case EAI_SYSTEM:
      return system_error_code(system_error);
    default:
      return reasons::host_not_found;
  }
}

lookup_answer look_up_by_system(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* first = nullptr;
  const int result = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &first);
  lookup_answer answer{error_of_getaddrinfo(result, errno), {}};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(first, &::freeaddrinfo);
  for (const addrinfo* at = first; at; at = at->ai_next) answer.found.emplace_back(at->ai_addr, at->ai_addrlen);
  return answer;
}

lookup_answer answer_of(const name_lookups::function& look_up, const lookup_job& job) noexcept {
  try {
    return look_up(job.host, job.port);
  } catch (...) {
    return {reason_of_exception(), {}};
  }
}

}  // namespace

const lookup_answer& name_lookups::request::answer() const noexcept { return job_->answer; }

name_lookups::name_lookups(function look_up, duration slow)
    : state_(std::make_shared<state>(std::move(look_up), slow)) {}

// Never destroyed: a thread may be in getaddrinfo while the process exits. A forked child has none of its parent's
// threads, and its copy of the mutex may be locked for ever, so the child gets an instance of its own.
name_lookups& name_lookups::of_process() {
  struct entry {
    pid_t process;
    entry* parents;
    name_lookups lookups{&look_up_by_system};
  };
  static constinit std::atomic<entry*> newest{nullptr};
  entry* known = newest.load();
  while (!known || known->process != ::getpid()) {
    auto fresh = std::make_unique<entry>(::getpid(), known);
    if (newest.compare_exchange_strong(known, fresh.get())) return fresh.release()->lookups;
  }
  return known->lookups;
}

void name_lookups::start(request& who, const std::string& host, const std::string& port, std::size_t most) {
  const std::lock_guard lock(state_->mutex);
  auto& jobs = state_->jobs;
  const auto same = [&](const auto& job) { return job->host == host && job->port == port; };
  if (const auto found = std::ranges::find_if(jobs, same); found != jobs.end()) {
    who.job_ = *found;
    who.job_->requests.push_back(who);
    return;
  }
  const auto job = std::make_shared<lookup_job>(host, port, most);
  jobs.push_back(job);
  const signals_blocked for_the_threads;
  if (state_->next() == job) {
    try {
      start_thread("qnt-lookup", [all = state_, job] { run(all, job); }).detach();
    } catch (...) {
      jobs.pop_back();
      throw;
    }
    state_->begin(*job);
  } else if (!state_->has_spare) {
    start_spare(state_);
  }
  who.job_ = job;
  job->requests.push_back(who);
}

bool name_lookups::cancel(request& who) noexcept {
  const std::lock_guard lock(state_->mutex);
  if (!who.is_linked()) return false;
  lookup_job& job = *who.job_;
  job.requests.erase(request_list::s_iterator_to(who));
  if (job.requests.empty() && !job.is_running) {
    state_->jobs.remove(who.job_);
    state_->changed.notify_one();
  }
  return true;
}

// Posts under the mutex: a request that is linked has a loop that lives.
void name_lookups::run(const std::shared_ptr<state>& all, std::shared_ptr<lookup_job> job) noexcept {
  while (job) {
    lookup_answer answer = answer_of(all->look_up, *job);
    const std::lock_guard lock(all->mutex);
    job->answer = std::move(answer);
    all->jobs.remove(job);
    --all->running;
    while (!job->requests.empty()) {
      request& who = job->requests.front();
      job->requests.pop_front();
      who.loop.post(static_cast<work_item&>(who));
    }
    job = all->next();
    if (job) all->begin(*job);
    all->changed.notify_one();
  }
}

// [with the mutex] Without a spare thread, look-ups wait for one to end.
void name_lookups::start_spare(const std::shared_ptr<state>& all) noexcept {
  try {
    start_thread("qnt-lookup", [all] { wait_and_run(all); }).detach();
    all->has_spare = true;
  } catch (...) {
    all->has_spare = false;
  }
}

void name_lookups::wait_and_run(const std::shared_ptr<state>& all) noexcept {
  std::unique_lock lock(all->mutex);
  std::shared_ptr<lookup_job> job;
  while (all->has_waiting() && !(job = all->next())) {
    if (const auto then = all->next_slow(); then != state::time::max())
      all->changed.wait_until(lock, then);
    else
      all->changed.wait(lock);  // as many threads as there may be
  }
  if (job) all->begin(*job);
  all->has_spare = false;
  if (job && all->has_waiting()) start_spare(all);
  lock.unlock();
  if (job) run(all, std::move(job));
}

std::size_t name_lookups::running() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->running;
}

std::size_t name_lookups::waiting() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->jobs.size() - state_->running;
}

}  // namespace quintet::detail
