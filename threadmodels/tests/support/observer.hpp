// SPDX-License-Identifier: BSL-1.0
// observer: records what the handlers of a server see, and detects what they must never see.
#pragma once

#include "waiting.hpp"

#include <quintet/base/error.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {

/// The threads on which something ran: identity, name, how often.
struct sightings {
  std::map<std::thread::id, std::string> threads;
  std::size_t on_loop = 0, elsewhere = 0;
  void add(bool on_the_loop);
  [[nodiscard]] std::set<std::string> names() const;
};

/// One connection, as its handler saw it. Only `inside` is synchronised. Only the holder of the baton may write the
/// rest, so ThreadSanitizer reports two threads that hold it at once.
struct visit {
  std::size_t number = 0;  ///< in the order of opening
  std::atomic<bool> inside{false};
  bool closed = false;
  std::size_t requests = 0;
  sightings callbacks;  ///< the handler, or the coroutine itself
  sightings work;       ///< expensive work: the batch, or what the coroutine offloaded
  error_code reason;    ///< callbacks only: a coroutine does not learn it
};

/// [any thread] A fault is what no handler may see: callbacks that overlap, or one before on_open or after on_close.
class observer {
 public:
  visit& opened();
  void closed(visit& v, error_code why);
  void fault(std::string what);

  [[nodiscard]] bool await_opened(std::size_t count);
  [[nodiscard]] bool await_closed(std::size_t count);
  [[nodiscard]] std::size_t opened_count() const;
  [[nodiscard]] std::size_t closed_count() const;
  [[nodiscard]] std::vector<std::string> faults() const;
  /// Returns why connections have closed, in the order of closing.
  [[nodiscard]] std::vector<error_code> reasons() const;
  /// Call it only after the server has stopped.
  [[nodiscard]] const std::deque<visit>& visits() const { return visits_; }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<visit> visits_;
  std::vector<error_code> reasons_;
  std::vector<std::string> faults_;
};

/// Marks a handler as running, for as long as this object lives.
class presence {
 public:
  presence(observer& o, visit* v);
  ~presence();
  presence(const presence&) = delete;
  presence& operator=(const presence&) = delete;

 private:
  visit* visit_;
};

}  // namespace quintet::test
