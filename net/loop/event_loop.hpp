// SPDX-License-Identifier: BSL-1.0
// event_loop: one thread's reactor: an engine, timers, an inbox, and an io_context for Asio's clients.
#pragma once

#include "../../base/memory/byte_buffer.hpp"
#include "../../base/memory/byte_chain.hpp"
#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "../engine/engine.hpp"
#include "../options/loop_options.hpp"
#include "../watch/affinity_guard.hpp"
#include "../watch/type_text.hpp"
#include "fair_tasks.hpp"
#include "loop_counters.hpp"
#include "loop_timers.hpp"
#include "ready_items.hpp"

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <concepts>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace quintet {

class asio_guest;
class event_loop;
class inline_gate;
class loop_executor;
class spin_budget;

/// An object that lives on a loop and keeps the loop running, such as a connection or a listener.
class loop_member : public boost::intrusive::list_base_hook<> {
 public:
  /// [loop] The loop stops. The member must call event_loop::leave(), at once or when its work in progress is finished.
  virtual void abort() noexcept = 0;

 protected:
  ~loop_member() = default;
};

namespace detail {

class connection_core;

/// A function of event_loop::post(). Owns itself, and is destroyed after its only run.
class posted_function : public work_item {
 public:
  virtual ~posted_function() = default;

 protected:
  explicit posted_function(const char* type) noexcept : work_item(&posted_function::run), type_(type) {}

 private:
  virtual void call() = 0;
  static void run(work_item& item) noexcept;
  const char* const type_;  // of the function, for the watchdog
};

}  // namespace detail

/// A loop's buffers and chunks for reuse, which a burst makes more. Its timer runs only while there is more to spare
/// than the caches always keep.
class spare_memory final : private timer, private surplus_watcher {
 public:
  static constexpr duration trim_interval = std::chrono::seconds(1);  ///< between two trims after a burst

  /// Throws std::bad_alloc.
  spare_memory(event_loop& loop, std::size_t static_output) : buffers(this), chunks(static_output, this), loop_(loop) {}

  buffer_cache buffers;  ///< of received bytes
  chunk_cache chunks;    ///< of output

 private:
  void on_surplus() noexcept override;
  void expired() noexcept override;

  event_loop& loop_;
};

/// At most one object of each type per loop (a database client, a cache), made at its first use.
class loop_services {
 public:
  /// [loop] Returns the object of this type; makes it as T(loop) at the first call.
  template <class T>
  T& use(event_loop& loop) {
    const auto key = detail::type_key::of<T>();
    for (const auto& [type, object] : slots_)
      if (type == key) return *static_cast<T*>(object.get());
    auto fresh = std::make_shared<T>(loop);
    slots_.emplace_back(key, fresh);  // shared_ptr<void> remembers how to destroy a T
    return *fresh;
  }
  /// Destroys all objects, one by one. A destructor may use other services; those already destroyed are made again.
  void clear() noexcept {
    while (!slots_.empty()) {
      const std::shared_ptr<void> last = std::move(slots_.back().second);
      slots_.pop_back();
    }
  }

 private:
  std::vector<std::pair<detail::type_key, std::shared_ptr<void>>> slots_;  // few: no hashing
};

/// One thread's reactor. Only the loop's thread, the one inside run() or poll(), may touch the loop and the objects on
/// it. The functions tagged [any thread] are the exceptions.
class event_loop {
 public:
  /// The loop reads all times from `time`, and measures spinning with it. Throws config_error for an invalid spin
  /// budget, and std::bad_alloc if an allocation for the options fails.
  explicit event_loop(std::unique_ptr<engine> io = make_default_engine(), const clock& time = clock::system(),
                      const loop_options& options = {});
  /// [any thread] Runs the posted items, then destroys timers, services and outstanding Asio operations. Before that,
  /// all members must have left, and no thread may run the loop or post to it.
  ~event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// [any thread] Runs the loop on the calling thread. Returns after stop(), once the last member has left.
  void run();
  /// [loop] Runs one turn without waiting: dispatches ready events, expired timers and posted items. Returns whether
  /// there was work. With a manual_clock and a memory engine, a program drives its loops by hand and reproducibly. A
  /// call within a turn of this loop, from a callback, does nothing and returns false.
  bool poll();
  /// The event and the time limit for the wait of an outer loop.
  struct outside_wait {
    int descriptor;    ///< wait until it is readable; -1: the engine has no descriptor
    duration longest;  ///< maximum time to wait, or engine::forever
    /// Returns `longest` for poll(2) and epoll_wait(2): rounded up, -1 means forever.
    [[nodiscard]] int milliseconds() const noexcept;
  };
  /// [loop] Embeds this loop in an outer loop, which calls poll() and wait_outside() in turn and waits in between. Runs
  /// ready Asio handlers.
  ///
  /// A post to this loop, or stop(), makes the descriptor readable until the next poll(). Asio operations have no
  /// descriptor to wait for. While such operations are outstanding the wait is at most 1 ms. The same holds for an
  /// engine without a descriptor, such as engine_kind::asio.
  outside_wait wait_outside();
  /// [any thread] Aborts every member. run() returns when all members have left. stop() may be called before run().
  void stop() noexcept;
  /// [loop] Whether the loop is stopping, all members have left, and no item of defer() or run_soon() is queued. Items
  /// that queue themselves again keep it from that for 64 turns only; the destructor runs the rest.
  [[nodiscard]] bool finished() const noexcept {
    return stopping_ && members_.empty() && notified_.empty() && deferred_.empty() && ready_.are_done();
  }
  /// [loop] Whether the loop has begun to stop and to abort its members.
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }

  /// [any thread] Runs the item on the loop's thread. Never allocates. A burst of posts costs one wake-up.
  void post(work_item& item) noexcept;
  /// [any thread] Runs all items on the loop's thread, in order. `items` is empty afterwards.
  void post(work_fifo& items) noexcept;
  /// [any thread] Runs f() on the loop's thread. f must not throw. Allocates one node. The destructor also runs the
  /// functions that the loop has not run. A function that posts itself again must therefore end when stopping().
  template <std::invocable F>
    requires(!std::is_base_of_v<work_item, F>)
  void post(F f);
  /// [any thread] Whether the calling thread runs this loop.
  [[nodiscard]] bool in_this_thread() const noexcept { return current() == this; }
  /// [any thread] Returns the loop that runs on the calling thread, or nullptr.
  [[nodiscard]] static event_loop* current() noexcept { return current_loop; }

  /// [loop] Returns the time of the current phase of the turn. The first call in a phase reads the clock. Later calls
  /// return the same time.
  [[nodiscard]] time_point now() noexcept {
    if (!is_now_cached_) [[unlikely]] {
      now_ = clock_.now();
      now_at_ = counters_.batches.value();
      is_now_cached_ = true;
    }
    return now_;
  }
  /// [loop] For timers: the value of now() during the engine's dispatch in this turn; time_point::max() if now() was
  /// not called.
  [[nodiscard]] time_point dispatched_at() const noexcept { return dispatched_at_; }
  /// [loop] Makes now() read the clock again. Call it after a long operation, such as a blocking send.
  void invalidate_now() noexcept { is_now_cached_ = false; }
  /// [loop] Starts or restarts a timer. The caller keeps ownership. Never allocates. duration::max() means never.
  void start(timer& t, duration after) noexcept {
    check_here();
    timers_.start(t, later(now(), after));
  }

  /// [any thread] Calls f() once on the loop's thread after `d`. Zero means when timers are checked next, never within
  /// this call. The loop owns f, and destroys it on its own thread after the call or after cancel(), or with the loop.
  /// An exception of f is counted in `handler_errors`. Allocates one node.
  template <std::invocable F>
  timer_id after(duration d, F f) {
    return callbacks_.start(d, duration::zero(), std::move(f));
  }
  /// [any thread] Calls f() every `period` until cancel(), also after an exception. The n-th call is scheduled n
  /// periods from now, however late earlier calls were. Calls missed while the loop was held up are skipped. Throws
  /// std::invalid_argument if the period is not positive. Otherwise like after().
  template <std::invocable F>
  timer_id every(duration period, F f) {
    if (period <= duration::zero())
      throw std::invalid_argument("event_loop::every: the period is not positive; it must be above 0");
    return callbacks_.start(period, period, std::move(f));
  }
  /// [any thread] Cancels a timer of after() or every(). Returns true if there was one: f is not called again. From
  /// another thread, a call in progress may end after cancel() has returned. Returns false for an id that was cancelled
  /// or whose only call has begun.
  bool cancel(timer_id id) noexcept { return callbacks_.cancel(id); }

  /// [any thread] Returns an executor for Asio's I/O objects and clients. Their completions run on this loop's thread.
  /// Include <quintet/net/asio.hpp> for the type.
  [[nodiscard]] loop_executor get_executor() noexcept;
  /// [loop] Returns this loop's only T. The first call makes it with T(event_loop&), and the loop destroys it.
  template <class T>
  T& use() {
    check_here();
    return services_.use<T>(*this);
  }

  // The following functions are for extensions of the loop: connections, listeners, models.
  /// [any thread] Runs the items posted after run() has returned, and those that they queue. No thread may run the
  /// loop. Returns whether there were any.
  bool run_left_over() noexcept;
  /// [any thread] Whether work without a member is outstanding: an Asio operation, a function of after() or every(), or
  /// an item of post() or run_soon().
  [[nodiscard]] bool has_detached_work() noexcept;
  /// [loop] Adds a member; leave() removes it. The member must outlive its membership.
  void join(loop_member& m) noexcept {
    check_here();
    members_.push_back(m);
  }
  void leave(loop_member& m) noexcept {
    check_here();
    members_.erase(member_list::s_iterator_to(m));  // either list: neither counts its elements
  }
  /// [loop] Runs the item after this turn's dispatching. An object that may still have an event in the current batch
  /// must not be destroyed earlier.
  void defer(work_item& item) noexcept {
    check_here();
    is_quiet_ = false;
    deferred_.push(item);
  }
  /// [loop] Runs the item at the end of this turn, before deferred items; behind 64 others in the next turn. Never
  /// within this call. An item may queue itself again.
  void run_soon(work_item& item) noexcept {
    check_here();
    is_quiet_ = false;
    ready_.push(item);
  }
  /// [loop] Runs a quantum of the task at the end of this turn, or of a later one. The caller keeps ownership.
  void schedule_fair(fair_task& task) noexcept {
    check_here();
    is_quiet_ = false;
    fair_work_.schedule(task);
  }
  /// [loop] Returns the fair tasks and the turn's write quota.
  [[nodiscard]] fair_tasks& fair_work() noexcept { return fair_work_; }

  /// [loop] The measured duration of the last handler call on this loop. Connections note it. A thread model that has
  /// accounted for it resets it to zero, so that it counts once.
  void note_handler_time(duration took) noexcept { handler_time_ = took; }
  [[nodiscard]] duration handler_time() const noexcept { return handler_time_; }

  /// Returns the options of the loop.
  [[nodiscard]] const loop_options& options() const noexcept { return options_; }
  /// [any thread] Returns the loop's clock.
  [[nodiscard]] const clock& time() const noexcept { return clock_; }
  [[nodiscard]] engine& io() noexcept { return *engine_; }
  /// [loop] Lends the bytes that the engine has just received to the current connection, until the engine's next call.
  void lend_input(bytes received) noexcept { lent_ = received; }
  [[nodiscard]] bytes lent_input() const noexcept { return lent_; }
  [[nodiscard]] buffer_cache& buffers() noexcept { return spares_.buffers; }
  [[nodiscard]] chunk_cache& chunks() noexcept { return spares_.chunks; }
  [[nodiscard]] loop_counters& counters() noexcept { return counters_; }
  /// [loop] Cache of model_interface: a model's number, and its gate for this loop.
  struct gate_of_model {
    std::uint64_t model = 0;      ///< its number
    inline_gate* gate = nullptr;  ///< of that model, for this loop
  };
  /// [loop] Returns that cache.
  [[nodiscard]] gate_of_model& known_gate() noexcept { return known_gate_; }
  /// [loop] Cache of connection_registry: the registry that last looked up this loop's shard, and that shard. The
  /// registry is a number, not an address, so that one seed gives the same run in every process.
  struct registry_shard {
    std::uint32_t registry = ~std::uint32_t{0};  ///< its number
    std::uint32_t shard = 0;                     ///< of this loop, in that registry
  };
  /// [loop] Returns that cache.
  [[nodiscard]] registry_shard& shard_in_registry() noexcept { return registry_shard_; }

 private:
  friend class loop_executor_access;
  friend detail::connection_core;  // a send that blocks the loop ends at its next timer
  bool turn(bool may_wait);
  template <bool Announces, class F>
  bool quiet_turn(F how_long);
  bool is_now_fresh() const noexcept;
  bool poll_guest(asio_guest& guest);
  bool wait_for_work(asio_guest* guest, bool may_wait);
  bool expire_timers();
  bool spin(asio_guest* guest, duration& longest);
  void begin_to_stop() noexcept;
  duration longest_wait(bool may_wait) noexcept;
  bool wait_in_engine(duration longest);
  bool wait_in_guest(asio_guest& guest, duration longest);
  void drop_guest() noexcept;
  bool run_put_off() noexcept;
  bool run_deferred() noexcept;
  bool must_not_sleep() const noexcept;
  // The reasons for more than a quiet turn are bits of one word, for one comparison.
  enum call : std::uint8_t { has_guest = 1, stop_asked = 2 };
  void wake() noexcept;
  asio_guest& guest();

  // constinit: a read is one load, without an initialisation check.
  static inline constinit thread_local event_loop* current_loop = nullptr;
  class scoped_current;
  /// Functions that only the loop's thread may call begin with it.
  void check_here(const detail::affinity_guard::place& by = detail::affinity_guard::place::current()) const noexcept {
    guard_.check_loop(by);
  }

  [[no_unique_address]] detail::affinity_guard guard_;  // the thread in run() or poll()
  const clock& clock_;
  const loop_options options_;
  std::unique_ptr<engine> engine_;
  const bool always_wake_;
  const std::unique_ptr<spin_budget> spin_;  // null: never spins
  const bool sleeps_at_once_;                // without spinning, and woken only if it sleeps: nearly every loop
  const bool can_be_quiet_;                  // without spinning, and the engine runs no Asio handlers
  sleep_flag sleep_;
  std::atomic<std::uint8_t> calls_{0};
  mpsc_inbox inbox_;
  work_fifo deferred_;
  fair_tasks fair_work_;
  duration handler_time_{};
  timer_queue timers_;
  time_point now_{};
  std::uint64_t now_at_ = 0;  // batches that had begun then
  bool is_now_cached_ = false;
  time_point dispatched_at_ = time_point::max();
  bool stopping_ = false;
  bool is_quiet_ = false;      // the next turn has only the engine's events, timers and the inbox
  bool is_destroyed_ = false;  // functions of executors are destroyed instead of called
  ready_items ready_;
  bytes lent_;
  using member_list = boost::intrusive::list<loop_member, boost::intrusive::constant_time_size<false>>;
  member_list members_, notified_;  // notified_: their abort() was called
  spare_memory spares_;
  loop_counters counters_;
  gate_of_model known_gate_;
  registry_shard registry_shard_;
  std::atomic<asio_guest*> guest_{nullptr};
  loop_timers callbacks_{*this, timers_, clock_};
  loop_services services_;  // last: services may use all of the above while they are destroyed
};

template <std::invocable F>
  requires(!std::is_base_of_v<work_item, F>)
void event_loop::post(F f) {
  struct node final : detail::posted_function {
    explicit node(F fn) : posted_function(detail::type_text<F>()), function(std::move(fn)) {}
    void call() override { function(); }
    F function;
  };
  post(static_cast<work_item&>(*new node(std::move(f))));
}

/// [any thread] Whether a connection's handle can migrate to another loop. The engine must be able to detach it, and
/// both loops must share one descriptor table.
[[nodiscard]] inline bool can_detach_connections(event_loop& from) noexcept {
  return from.io().capabilities().can_detach && !from.options().own_descriptors;
}

}  // namespace quintet
