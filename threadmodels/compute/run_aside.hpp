// SPDX-License-Identifier: BSL-1.0
// run_aside: threads that compute the steps of handshakes, beside the loops and the handlers of any model.
#pragma once

#include "../../base/work/work_item.hpp"
#include "thread_options.hpp"
#include "worker_pool.hpp"

#include <memory>

namespace quintet {

/// Loops and handlers come first where they compete for CPUs (nice 10: a tenth of their share is left). Starts its
/// first thread at the first item, so that a server without TLS has none. Adds others while items wait. They outlast
/// stop() of the model: the priority loop ends after it.
class run_aside {
 public:
  /// `most`: threads. 0: aside() is not called.
  explicit run_aside(unsigned most = thread_options().handshakes);
  /// [any thread] Runs the item, on the caller's thread if the system refuses another, or after end_aside().
  void aside(work_item& item) noexcept;
  /// Joins the threads. No other thread may call aside() meanwhile.
  void end_aside() noexcept;
  [[nodiscard]] unsigned aside_threads() const noexcept { return most_; }

 private:
  struct threads;
  struct joined {
    void operator()(threads* all) const noexcept;
  };
  unsigned most_;
  std::unique_ptr<threads, joined> threads_;  // null: none
};

}  // namespace quintet
