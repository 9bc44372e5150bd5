// SPDX-License-Identifier: BSL-1.0
// name_lookups: looks host names up side by side, on threads of its own, and shares equal look-ups.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../../base/work/work_item.hpp"
#include "../names/address.hpp"

#include <boost/intrusive/list.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace quintet {

class event_loop;

}  // namespace quintet

namespace quintet::detail {

struct lookup_job;

/// The result of a look-up.
struct lookup_answer {
  error_code failed;
  std::vector<address> found;
};

/// Nothing can interrupt getaddrinfo, so a name whose server is silent occupies a thread for seconds. Each look-up has
/// a thread of its own, up to a limit; further ones wait for one to end. Requests for the same host and port share one
/// look-up, so that a hanging name occupies one thread, however often it is asked for. A look-up that takes longer than
/// `slow_after` does not count against the limit any more, so names that hang delay others no longer than that, until
/// there are `most_threads` for each look-up of the limit.
///
/// The threads are detached and own all that they use. No destructor waits for them, and the process may exit.
class name_lookups {
 public:
  /// Looks a host and a port up. Runs on the threads.
  using function = std::function<lookup_answer(const std::string& host, const std::string& port)>;

  /// One who waits for an answer. While it waits, its owner must not destroy it or its loop without cancel().
  class request : public boost::intrusive::list_base_hook<>, public work_item {
   public:
    /// `answered`: runs on the loop once answer() is set.
    request(event_loop& on, work_item::function answered) noexcept : work_item(answered), loop(on) {}
    [[nodiscard]] const lookup_answer& answer() const noexcept;

    event_loop& loop;

   private:
    friend name_lookups;
    std::shared_ptr<lookup_job> job_;
  };

  static constexpr duration slow_after = std::chrono::seconds(1);
  /// Threads for each look-up of the limit, slow ones included.
  static constexpr std::size_t most_threads = 8;

  /// Throws std::bad_alloc.
  explicit name_lookups(function look_up, duration slow = slow_after);
  /// [any thread] Returns the instance that all connectors of the process share. It calls getaddrinfo. Throws
  /// std::bad_alloc.
  static name_lookups& of_process();

  /// [any thread] Begins to wait. A new look-up begins at once if fewer than `most` are in progress. Throws if the
  /// system refuses a thread or memory.
  void start(request& who, const std::string& host, const std::string& port, std::size_t most);
  /// [any thread] Ends the wait. Returns false if the request was posted to its loop already; the thread that did so
  /// has left the loop then, which may end. A look-up that nobody waits for any more does not begin.
  [[nodiscard]] bool cancel(request& who) noexcept;

  /// [any thread] Return the number of look-ups that occupy a thread, and of those that wait for one.
  [[nodiscard]] std::size_t running() const noexcept;
  [[nodiscard]] std::size_t waiting() const noexcept;

 private:
  struct state;
  static void run(const std::shared_ptr<state>& all, std::shared_ptr<lookup_job> job) noexcept;
  static void start_spare(const std::shared_ptr<state>& all) noexcept;
  /// A spare thread: waits until a look-up may begin, and runs it.
  static void wait_and_run(const std::shared_ptr<state>& all) noexcept;

  std::shared_ptr<state> state_;
};

}  // namespace quintet::detail
