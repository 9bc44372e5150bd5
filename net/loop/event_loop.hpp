// SPDX-License-Identifier: BSL-1.0
// event_loop: one thread's reactor: an engine, timers, an inbox, and a guest io_context for every other Asio client.
#pragma once

#include "../../base/memory/buffer_cache.hpp"
#include "../../base/memory/byte_chain.hpp"
#include "../../base/work/spin_budget.hpp"
#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "../engine/engine.hpp"
#include "../options/loop_options.hpp"
#include "../watch/activity.hpp"
#include "../watch/affinity_guard.hpp"
#include "fair_tasks.hpp"
#include "loop_counters.hpp"
#include "loop_services.hpp"
#include "loop_timers.hpp"

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <concepts>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace quintet {

class asio_guest;
class loop_executor;

/// Something that lives on a loop and keeps it running: a connection, a listener. It is told when the loop stops.
class loop_member : public boost::intrusive::list_base_hook<> {
 public:
  /// [loop] Must lead to event_loop::leave(), at once or when work that is under way has come home.
  virtual void abort() noexcept = 0;

 protected:
  ~loop_member() = default;
};

/// Everything attached to a loop is touched only by the loop's thread, which is the one inside run() or poll();
/// post(), stop() and get_executor() are the doors for all others.
class event_loop {
 public:
  /// `time` is also that of spinning; who posts to a loop that spins needs not wake it. Throws config_error, and
  /// std::bad_alloc where there is no memory for what it is to allocate.
  explicit event_loop(std::unique_ptr<engine> io = make_default_engine(), const clock& time = clock::system(),
                      const loop_options& options = {});
  /// On any thread, when nobody runs the loop or posts to it any more, and its members have left. First what has been
  /// posted runs, here; then timers, services, and operations of Asio that are under way are destroyed.
  ~event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// [any thread] Runs on the calling thread until stop(), and until the last member has left.
  void run();
  /// [loop] One turn, which never waits: dispatches what is ready, due or posted. Returns whether there was anything.
  /// With a manual_clock and a memory engine a program of loops is driven by hand, and repeats itself exactly.
  bool poll();
  /// What a program's own loop waits for, on behalf of this one.
  struct outside_wait {
    int descriptor;    ///< to become readable; -1: the engine has none
    duration longest;  ///< and no longer than so long, or engine::forever
    /// As poll(2) and epoll_wait(2) want it: rounded up, and -1 for ever.
    [[nodiscard]] int milliseconds() const noexcept;
  };
  /// [loop] For a program with a loop of its own, which calls poll() and this in turn, and waits in between. What is
  /// posted to this loop, or stops it, makes the descriptor readable, until the next poll(). While operations of Asio
  /// are outstanding on this loop the wait is one of a millisecond, because these have no descriptor to wait for. Runs
  /// what Asio has ready. With an engine that has no descriptor, such as engine_kind::asio, every wait is that short.
  outside_wait wait_outside();
  /// [any thread] Every member is told to abort; run() returns when all have left. Before run(): run() returns soon.
  void stop() noexcept;
  /// [loop] Whether stop() has taken effect and the last member has left.
  [[nodiscard]] bool finished() const noexcept {
    return stopping_ && members_.empty() && notified_.empty() && deferred_.empty();
  }
  /// [loop]
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }

  /// [any thread] Runs the item on the loop's thread. Never allocates; a burst of posts costs one wake-up.
  void post(work_item& item) noexcept;
  /// [any thread] The same for all of them, in their order.
  void post(work_fifo& items) noexcept;
  /// [any thread] Runs f() on the loop's thread; it must not throw. Allocates one node. The destructor runs what the
  /// loop has not come to, so that a function which posts itself again and again has to end when stopping().
  template <std::invocable F>
    requires(!std::is_base_of_v<work_item, F>)
  void post(F f);
  /// [any thread]
  [[nodiscard]] bool in_this_thread() const noexcept { return current() == this; }
  /// [any thread] The loop whose thread this is, or nullptr.
  [[nodiscard]] static event_loop* current() noexcept { return current_loop; }

  /// [loop] The time at which this turn began to dispatch.
  [[nodiscard]] time_point now() noexcept;
  /// [loop] From a timer: what now() was for what the engine dispatched before in this turn; time_point::max() if
  /// nobody asked for it.
  [[nodiscard]] time_point dispatched_at() const noexcept { return dispatched_at_; }
  /// [loop] now() asks the clock again: something has taken long, such as a send that waits for the peer.
  void time_has_passed() noexcept { now_is_known_ = false; }
  /// [loop] Starts, or starts again, a timer that the caller owns. Never allocates. duration::max() is never.
  void start(timer& t, duration after) noexcept {
    check_here();
    timers_.start(t, later(now(), after));
  }

  /// [any thread] Calls f() once on the loop's thread, when the time has passed; at once means in the next turn. The
  /// loop owns f and destroys it on its thread: after the call, when it is cancelled, or with itself. A call that
  /// leaves with an exception is counted in `handler_errors`, and nothing else happens. Allocates one node.
  template <std::invocable F>
  timer_id after(duration d, F f) {
    return callbacks_.start(d, duration::zero(), std::move(f));
  }
  /// [any thread] Like after(), again and again until it is cancelled, also after an exception. It keeps its rhythm:
  /// the n-th call is due n periods from now, however late the earlier ones were. Calls whose time passed while the
  /// loop was held up are skipped, never made up for. Throws std::invalid_argument if the period is not positive.
  template <std::invocable F>
  timer_id every(duration period, F f) {
    if (period <= duration::zero()) throw std::invalid_argument("event_loop::every: the period must be above zero");
    return callbacks_.start(period, period, std::move(f));
  }
  /// [any thread] Whether there was something to cancel: then f is not called again. On the loop's thread it is not
  /// running either, unless it is f that calls; from another thread a call may be under way, and end after this has
  /// returned. False, and harmless, for an id whose timer has been cancelled or has begun its only call.
  bool cancel(timer_id id) noexcept { return callbacks_.cancel(id); }

  /// [any thread] For Asio's I/O objects and clients: their completions run on this loop's thread. The io_context
  /// behind it is made when it is first asked for. Include <quintet/net/asio.hpp> for the type.
  [[nodiscard]] loop_executor get_executor();
  /// [loop] One T for each loop, made with T(event_loop&) when it is first asked for, destroyed with the loop.
  template <class T>
  T& use() {
    check_here();
    return services_.use<T>(*this);
  }

  // What follows is for those who build on the loop: connections, listeners, models.
  /// On any thread, when nobody runs the loop any more: runs what has been posted since, as the destructor does.
  /// Returns whether there was anything.
  bool run_left_over() noexcept;
  /// [any thread] Whether something may happen here that belongs to no member: an operation of Asio is outstanding, or
  /// a function has been given to after() or every().
  [[nodiscard]] bool has_detached_work() noexcept;
  /// [loop]
  void join(loop_member& m) noexcept {
    check_here();
    members_.push_back(m);
  }
  void leave(loop_member& m) noexcept {
    check_here();
    members_.erase(member_list::s_iterator_to(m));  // of whichever list it is in: they do not count
  }
  /// [loop] Runs the item when this turn's dispatching is over: an object that might still have an event in the batch
  /// at hand must not be destroyed before.
  void defer(work_item& item) noexcept {
    check_here();
    deferred_.push(item);
  }
  /// [loop] Runs a quantum of the task at the end of this turn, or of a later one. The caller keeps ownership.
  void schedule_fair(fair_task& task) noexcept {
    check_here();
    fair_work_.schedule(task);
  }
  /// [loop] The scheduled tasks, and the write quota of this turn.
  [[nodiscard]] fair_tasks& fair_work() noexcept { return fair_work_; }

  /// [loop] What the last handler call on this loop has taken, where these are measured. Connections note it. A thread
  /// model that accounts for it forgets it, so that it counts once.
  void note_handler_time(duration took) noexcept { handler_time_ = took; }
  [[nodiscard]] duration handler_time() const noexcept { return handler_time_; }

  [[nodiscard]] const loop_options& options() const noexcept { return options_; }
  /// [any thread] Where it reads the time.
  [[nodiscard]] const clock& time() const noexcept { return clock_; }
  [[nodiscard]] engine& io() noexcept { return *engine_; }
  /// [loop] What the engine has just received, for the connection that is at work, until the engine's next call.
  void lend_input(bytes received) noexcept { lent_ = received; }
  [[nodiscard]] bytes lent_input() const noexcept { return lent_; }
  [[nodiscard]] buffer_cache& buffers() noexcept { return buffers_; }
  [[nodiscard]] chunk_cache& chunks() noexcept { return chunks_; }
  [[nodiscard]] loop_counters& counters() noexcept { return counters_; }
  /// [loop] The connection_registry that was last asked for a shard for this loop, and its answer. A number, and not
  /// the address of this loop, so that one seed gives one run in every process.
  struct registry_shard {
    std::uint32_t registry = ~std::uint32_t{0};
    std::uint32_t shard = 0;
  };
  [[nodiscard]] registry_shard& shard_in_registry() noexcept { return registry_shard_; }

 private:
  friend class loop_executor_access;
  enum class sleep : int { awake, in_engine, in_guest };

  bool turn(bool may_wait);
  bool poll_guest(asio_guest& guest);
  bool wait_for_work(asio_guest* guest, bool may_wait);
  bool expire_timers();
  bool spin(asio_guest* guest, duration& longest);
  void begin_to_stop() noexcept;
  bool run_posted() noexcept;
  duration longest_wait(bool may_wait) noexcept;
  bool wait_in_engine(duration longest);
  bool wait_in_guest(asio_guest& guest, duration longest);
  void drop_guest() noexcept;
  bool run_deferred() noexcept;
  bool attention_wanted() const noexcept;
  void wake() noexcept;
  void wake_for_guest() noexcept;
  asio_guest& guest();

  // constinit: reading it is one load, not a call that looks whether it has been initialised.
  static inline constinit thread_local event_loop* current_loop = nullptr;
  class scoped_current;
  /// What others than this loop's thread must not call begins with it.
  void check_here(const detail::affinity_guard::place& by = detail::affinity_guard::place::current()) const noexcept {
    guard_.check_loop(by);
  }

  [[no_unique_address]] detail::affinity_guard guard_;  // who is in run() or poll()
  const clock& clock_;
  const loop_options options_;
  std::unique_ptr<engine> engine_;
  const bool always_wake_;
  spin_budget spin_;
  const bool sleeps_at_once_;  // and is woken only if it sleeps: nearly every loop
  std::atomic<sleep> sleep_{sleep::awake};
  std::atomic<bool> stop_requested_{false};
  std::atomic<bool> guest_posted_{false};  // another thread has given the guest something since its last poll
  mpsc_inbox inbox_;
  work_fifo deferred_;
  fair_tasks fair_work_;
  duration handler_time_{};
  timer_queue timers_;
  time_point now_{};
  bool now_is_known_ = false;
  time_point dispatched_at_ = time_point::max();
  bool stopping_ = false;
  bytes lent_;
  using member_list = boost::intrusive::list<loop_member, boost::intrusive::constant_time_size<false>>;
  member_list members_, notified_;  // those that have been told that the loop stops
  buffer_cache buffers_;
  chunk_cache chunks_;
  loop_counters counters_;
  registry_shard registry_shard_;
  std::atomic<asio_guest*> guest_{nullptr};
  loop_timers callbacks_{*this, timers_, clock_};
  loop_services services_;  // last: services may use all of the above while they are destroyed
};

template <std::invocable F>
  requires(!std::is_base_of_v<work_item, F>)
void event_loop::post(F f) {
  struct node final : work_item {
    explicit node(F fn) : work_item(&node::run), function(std::move(fn)) {}
    static void run(work_item& item) noexcept {
      const std::unique_ptr<node> self(static_cast<node*>(&item));
      const activity::scope now(callback::posted, nullptr, &typeid(F));
      self->function();
    }
    F function;
  };
  post(static_cast<work_item&>(*new node(std::move(f))));
}

/// [any thread] Whether a connection's handle can leave a loop for another one: the engine can detach it, and it
/// means the same on the other loop's thread.
[[nodiscard]] inline bool can_detach_connections(event_loop& from) noexcept {
  return from.io().capabilities().can_detach && !from.options().own_descriptors;
}

}  // namespace quintet
