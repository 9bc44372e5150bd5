// SPDX-License-Identifier: BSL-1.0
// trials: a child process runs them. If it crashes or hangs, its parent starts another one.
#include "trials.hpp"

#include "failing_new.hpp"
#include "forked.hpp"

#include <quintet/net/watch/backtrace.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <thread>

#if QUINTET_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

static_assert(all_for_a_while == failing_allocations::lasting_burst);
constexpr std::size_t most_trials = 20'000;
constexpr std::size_t most_restarts = 60;
constexpr std::chrono::seconds longest_trial = 4 * peer_patience;

struct trial {
  bool made = false, fired = false, harmless = false;
  call_stack failed_at;
  std::array<char, 200> fault{};
};

/// The state that the child shares with its parent.
struct progress {
  allocation_sites sites;
  std::atomic<std::size_t> current{0}, planned{0}, dropped{0};
  std::atomic<bool> prepared{false};
  std::array<trial, most_trials> trials;
  call_stack ended_at;
  std::array<char, 200> fault{};  // a fault that no single trial has
};

void put(std::array<char, 200>& into, std::string_view text) noexcept {
  std::memcpy(into.data(), text.data(), std::min(text.size(), into.size() - 1));
}

class armed final : public injection {
 public:
  template <class F>
  explicit armed(F arm) : arm_(std::move(arm)) {}
  void begin() override { arm_(); }
  void end() noexcept override { allocations.disarm(); }

 private:
  std::function<void()> arm_;
};

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

progress* told = nullptr;  // used by the signal handler

void note_end(int) {
  told->ended_at.capture();  // then the default action of the signal ends the process
}
void watch_for_the_end() {
  for (const int s : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    if (sanitized && s != SIGABRT) continue;  // the sanitizer reports more
    struct sigaction action{};
    action.sa_handler = &note_end;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(s, &action, nullptr);
  }
}

/// Leaves out the frames of this test and of the C library.
std::vector<std::string> readable(const call_stack& stack) {
  auto frames = describe_stack(stack.addresses());
  std::erase_if(frames, [](const std::string& frame) {
    return frame.starts_with("quintet::test::call_stack::") ||
           frame.starts_with("quintet::test::failing_allocations") || frame.starts_with("lib") ||
           frame.starts_with("_Unwind") || frame.starts_with("__gxx");
  });
  return frames;
}

class child {
 public:
  child(progress& p, const scenario& what, const surroundings& where, const trial_options& how)
      : progress_(p), what_(what), where_(where), how_(how) {}

  int run() try {
    const failing_allocations::spare this_thread;
    told = &progress_;
    watch_for_the_end();
    prepare();
    for (std::size_t i = progress_.current; i < progress_.planned; progress_.current = ++i)
      if (is_wanted(i)) make(i);
#if QUINTET_ADDRESS_SANITIZER
    if (__lsan_do_recoverable_leak_check() != 0) put(progress_.fault, "leaks (see above)");
#endif
    return 0;
  } catch (const std::exception& e) {
    put(progress_.fault, std::string("without a failure: ") + e.what());
    return 1;
  }

 private:
  /// Runs the scenario without failures. That makes what is made once, and finds the places that allocate.
  void prepare() {
    armed recording([this] { allocations.record(progress_.sites); });
    std::uint64_t most = 0;
    for (int i = 0; i < 3; ++i) {
      if (perform(recording) != 0) throw std::runtime_error("a connection was lost");
      most = std::max(most, allocations.count());
      wait_for_release();
    }
    blocks_ = allocations.blocks();
    descriptors_ = open_descriptors();
    if (!progress_.prepared) plan(static_cast<std::size_t>(most));
    progress_.prepared = true;
  }
  /// Runs on a thread of its own, so that stacks are the same when places are recorded and when they fail.
  unsigned perform(injection& faults) {
    unsigned lost = 0;
    std::exception_ptr thrown;
    std::thread([&] {
      const failing_allocations::spare this_thread;
      try {
        lost = what_.run(where_, faults);
      } catch (...) {
        thrown = std::current_exception();
      }
    }).join();
    if (thrown) std::rethrow_exception(thrown);
    return lost;
  }
  void plan(std::size_t allocations_of_a_run) {
    const std::size_t wanted = how_.every_one ? allocations_of_a_run + 4 : progress_.sites.size;
    progress_.planned = std::min(most_trials, wanted);
    progress_.dropped = wanted - progress_.planned + (how_.every_one ? 0 : progress_.sites.dropped);
  }
  [[nodiscard]] bool is_wanted(std::size_t i) const {
    if (how_.at.empty()) return true;
    return std::ranges::any_of(readable(progress_.sites.stacks[i]),
                               [&](const std::string& frame) { return frame.find(how_.at) != frame.npos; });
  }
  void make(std::size_t i) {
    trial& now = progress_.trials[i];
    now.made = true;
    const auto arm = [this, i] {
      if (how_.every_one)
        allocations.fail_number(i + 1, how_.burst);
      else
        allocations.fail_site(progress_.sites.hashes[i], how_.burst);
    };
    armed failing([&] {
      arm();
      allocations.report_to(&now.failed_at);
    });
    try {
      const unsigned lost = perform(failing);
      now.harmless = lost == 0;
      if (how_.burst > 0 && lost > static_cast<unsigned>(how_.burst))
        put(now.fault, std::to_string(lost) + " connections were lost");
    } catch (const std::exception& e) {
      allocations.disarm();
      put(now.fault, e.what());
    }
    now.fired = allocations.fired();
    if (const std::string left = remains(); !left.empty() && now.fault[0] == 0) put(now.fault, left);
  }
  /// Returns what has leaked. Waits a moment for threads that have just ended.
  std::string remains() {
    wait_for_release();
    std::string left;
    const auto say = [&left](const char* what, std::int64_t count) {
      if (count != 0) left += std::string(left.empty() ? "leak:" : ",") + " " + std::to_string(count) + " " + what;
    };
    say("objects", counted::alive);
    say("blocks", allocations.blocks() - blocks_);
    say("descriptors", open_descriptors() - descriptors_);
    counted::alive = 0;
    blocks_ = allocations.blocks();
    descriptors_ = open_descriptors();
    return left;
  }
  void wait_for_release() {
    const auto deadline = std::chrono::steady_clock::now() + 1s;
    while ((counted::alive != 0 || (blocks_ != 0 && allocations.blocks() != blocks_)) &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(1ms);
  }

  progress& progress_;
  const scenario& what_;
  const surroundings& where_;
  const trial_options& how_;
  std::int64_t blocks_ = 0;
  std::ptrdiff_t descriptors_ = 0;
};

bool has_frame(const std::vector<std::string>& stack, std::string_view part) {
  return std::ranges::any_of(stack, [part](const std::string& frame) { return frame.find(part) != frame.npos; });
}

// Two defects of Asio that this library cannot prevent (Boost 1.81 to 1.88). If io_context has no memory for its first
// services, the constructor of its base loses the registry of services. And where one of Asio's own coroutines has
// found no memory for its next step, its destructor posts, which needs memory, too.
bool is_known_of_asio(const std::string& what, const std::vector<std::string>& failed_at,
                      const std::vector<std::string>& ended_at) {
  if (what == "leak: 1 blocks") return has_frame(failed_at, "boost::asio::config_from_concurrency_hint::make");
  return has_frame(ended_at,
                   "boost::asio::detail::awaitable_thread<boost::asio::any_io_executor>::~awaitable_thread()");
}

void add(trial_report& report, std::string what, const call_stack& failed_at, const call_stack& ended_at) {
  const auto failed = readable(failed_at), ended = readable(ended_at);
  if (is_known_of_asio(what, failed, ended)) return;
  for (finding& known : report.findings) {
    if (known.what != what || known.failed_at != failed) continue;
    ++known.trials;
    return;
  }
  report.findings.push_back({std::move(what), failed, ended});
}

/// Returns the status of the child. Kills it and returns nothing if it makes no progress.
std::optional<int> wait_for(forked& c, const progress& p) {
  for (;;) {
    const bool prepared = p.prepared;
    const std::size_t current = p.current;
    const auto deadline = std::chrono::steady_clock::now() + longest_trial;
    while (p.current == current && p.prepared == prepared && std::chrono::steady_clock::now() < deadline)
      if (const auto status = c.wait_for(50ms)) return status;
    if (std::chrono::steady_clock::now() >= deadline) break;
  }
  c.kill();
  return std::nullopt;
}

std::string end_of(std::optional<int> status) {
  if (!status) return "hangs";
  if (WIFSIGNALED(*status)) return "killed by signal " + std::to_string(WTERMSIG(*status));
  return "ends with status " + std::to_string(WEXITSTATUS(*status));
}

}  // namespace

as_server_thread::as_server_thread() noexcept : before_(failing_allocations::set_spared(false)) {}
as_server_thread::~as_server_thread() { failing_allocations::set_spared(before_); }

config config_for(const surroundings& where) {
  return {.listen = {{"127.0.0.1:0", {.socket = {.send_buffer = 16 << 10}}}},
          .model = where.under.kind,
          .threads = {.loops = 2, .workers = {1, 2}, .offload = {.policy = offload_policy::always}},
          .engine = where.engine,
          .log = [](const log_event& e) { (void)to_string(e); },
          .advanced = {.stalls = {.bound = duration::zero()}}};
}

trial_report try_all(const scenario& what, const surroundings& where, const trial_options& how) {
  const shared_object<progress> p;
  trial_report report;
  std::size_t restarts = 0;
  for (bool finished = false; !finished && restarts < most_restarts; ++restarts) {
    forked c([&] { return child(*p, what, where, how).run(); });
    const std::optional<int> status = wait_for(c, *p);
    finished = status == 0 || !p->prepared;
    if (p->fault[0] != 0) add(report, p->fault.data(), {}, {});
    if (status == 0) break;
    trial& last = p->trials[p->current];
    if (p->fault[0] == 0) add(report, end_of(status), last.failed_at, p->ended_at);
    finished |= p->fault[0] != 0;
    last.fired = true;
    p->ended_at.depth = 0;
    ++p->current;
  }
  if (restarts == most_restarts) add(report, "too many crashes: the trials that follow are left out", {}, {});
  for (std::size_t i = 0; i < p->current; ++i) {
    const trial& t = p->trials[i];
    report.trials += t.fired;
    report.silent += t.made && !t.fired;
    report.harmless += t.harmless && t.fired;
    if (t.fault[0] != 0) add(report, t.fault.data(), t.failed_at, {});
  }
  report.dropped = p->dropped;
  return report;
}

std::string to_string(const trial_report& report) {
  std::string text = std::to_string(report.trials) + " allocations failed, " + std::to_string(report.harmless) +
                     " without a loss, " + std::to_string(report.findings.size()) + " defects, " +
                     std::to_string(report.silent) + " trials without a failure (the allocation did not come again), " +
                     std::to_string(report.dropped) + " allocations never tried\n";
  for (const finding& f : report.findings) {
    text += "  " + f.what + " (" + std::to_string(f.trials) + " trials); the allocation that failed:\n";
    for (const std::string& frame : f.failed_at) text += "      " + frame + "\n";
    if (!f.ended_at.empty()) text += "    and the process ended at:\n";
    for (const std::string& frame : f.ended_at) text += "      " + frame + "\n";
  }
  return text;
}

}  // namespace quintet::test
