// SPDX-License-Identifier: BSL-1.0
// affinity_guard: reports the wrong thread and ends the program.
#include "affinity_guard.hpp"

#ifdef QUINTET_AFFINITY_GUARD

#include "backtrace.hpp"
#include "thread_name.hpp"

#include <execinfo.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace quintet::detail {
namespace {

std::string name_of(pthread_t thread) {
  const std::string name = name_of_thread(thread);
  return name.empty() ? "?" : '"' + name + '"';
}

// Writes to standard error, not to the log hook: the thread may hold a lock that the hook needs.
[[noreturn]] void stop(const std::string& what, const char* instead) {
  std::array<void*, 64> stack{};
  const int depth = ::backtrace(stack.data(), static_cast<int>(stack.size()));
  std::string text = "quintet: " + what + "\n  Instead: " + instead + "\n";
  for (const std::string& frame : describe_stack({stack.data(), static_cast<std::size_t>(depth)}))
    text += "  in " + frame + "\n";
  std::fputs(text.c_str(), stderr);
  std::abort();
}

}  // namespace

void affinity_guard::touched_without_baton(const connection_id& of, const place& at) const noexcept {
  const pthread_t holder = holder_.load(std::memory_order_relaxed);
  const std::string has_it = holder == pthread_t{} ? "no thread has its baton: its handler is not running"
                                                   : "thread " + name_of(holder) + " has its baton";
  stop(std::string(at.function_name()) + " was called on thread " + name_of(::pthread_self()) + ", but " + has_it +
           " (connection " + to_string(of) + ")",
       "keep its id() and call registry().send(id, bytes), close(id) or post(id, f), from any thread.");
}

void affinity_guard::touched_from_outside(const place& at) const noexcept {
  stop(std::string(at.function_name()) + " was called on thread " + name_of(::pthread_self()) +
           ", but the loop runs on thread " + name_of(holder_.load(std::memory_order_relaxed)),
       "call event_loop::post(f), after(d, f), every(d, f) or cancel(id), from any thread.");
}

}  // namespace quintet::detail

#endif
