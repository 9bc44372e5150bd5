// SPDX-License-Identifier: BSL-1.0
// event_loop: the turn: guest, engine, timers, inbox, ready items, deferred items, fair tasks, in this order, until the
// loop stops.
#include "event_loop.hpp"

#include "../../base/work/spin_budget.hpp"
#include "../engine/embedding.hpp"
#include "../engine/make_engine.hpp"
#include "../engine/system_call.hpp"
#include "../watch/activity.hpp"
#include "asio_guest.hpp"
#include "executor.hpp"
#include "loop_log.hpp"

#include <algorithm>
#include <type_traits>

namespace quintet {
namespace {

constexpr duration guest_pause = std::chrono::milliseconds(1);
// Other threads do not wake the loop when they begin a quantum, so the loop checks again after this pause.
constexpr duration fair_pause = std::chrono::milliseconds(2);
// Limit for a loop with a timer: engines add the wait to the current time, which must not overflow.
constexpr duration longest_sleep = std::chrono::hours(24 * 365);

// Two bounds for one comparison: what is overdue is negative.
[[gnu::always_inline]] inline duration within_bounds(duration left) noexcept {
  using unsigned_count = std::make_unsigned_t<duration::rep>;
  if (static_cast<unsigned_count>(left.count()) <= static_cast<unsigned_count>(longest_sleep.count())) [[likely]]
    return left;
  return left < duration::zero() ? duration::zero() : longest_sleep;
}

int descriptor_of(engine& io) noexcept {
  engine_embedding* const embedded = io.embedding();
  return embedded ? embedded->descriptor() : -1;
}

boost::asio::io_context* context_of(engine& io) noexcept {
  engine_embedding* const embedded = io.embedding();
  return embedded ? embedded->context() : nullptr;
}

std::unique_ptr<spin_budget> make_spin_budget(duration longest) {
  return longest == duration::zero() ? nullptr : std::make_unique<spin_budget>(longest);
}

}  // namespace

// A thread may drive several loops by hand, in turn.
class event_loop::scoped_current {
 public:
  explicit scoped_current(event_loop& loop) noexcept
      : loop_(loop), previous_(std::exchange(current_loop, &loop)), before_(loop.guard_.enter()) {}
  scoped_current(const scoped_current&) = delete;
  scoped_current& operator=(const scoped_current&) = delete;
  ~scoped_current() {
    current_loop = previous_;
    loop_.guard_.restore_owner(before_);
  }

 private:
  event_loop& loop_;
  event_loop* previous_;
  pthread_t before_;
};

event_loop::event_loop(std::unique_ptr<engine> io, const clock& time, const loop_options& options)
    : clock_(time),
      options_(options),
      engine_(decorate(std::move(io), options.tuning)),
      always_wake_(engine_->capabilities().blocking_send),
      spin_(make_spin_budget(options.tuning.spin)),
      sleeps_at_once_(!always_wake_ && !spin_),
      can_be_quiet_(!spin_ && !context_of(*engine_)),
      spares_(*this, options.tuning.static_output) {
  engine_->limit_receive(options.tuning.receive_size);
  if (engine_embedding* const embedded = engine_->embedding())
    embedded->on_descriptor_closing([this] {
      if (asio_guest* made = guest_.load(std::memory_order_acquire)) made->unwatch();
    });
  // A thread that posts writes to a descriptor by its number. The number must mean the same in all descriptor tables,
  // so the guest opens its descriptors before the tables are separated.
  if (options_.own_descriptors) (void)guest();
}

event_loop::~event_loop() {
  const scoped_current here(*this);  // destructors called below may call functions of the loop's thread
  is_destroyed_ = true;
  run_left_over();
  callbacks_.clear();  // first: the functions may use services
  services_.clear();
  run_left_over();  // posted by the services
  drop_guest();
  run_left_over();  // posted by destructors of the guest's handlers
  drop_guest();
}

void event_loop::drop_guest() noexcept {
  delete guest_.exchange(nullptr);
  if (engine_embedding* const embedded = engine_->embedding()) embedded->abandon();
}

bool event_loop::run_left_over() noexcept {
  const scoped_current here(*this);
  stopping_ = true;
  is_now_cached_ = false;
  bool any = false;
  while (inbox_.run_all() || run_deferred() || (is_destroyed_ ? ready_.run() : ready_.run_at_end())) any = true;
  return any;
}

bool event_loop::has_detached_work() noexcept {
  const asio_guest* const made = guest_.load(std::memory_order_acquire);
  return (made && made->active()) || !inbox_.empty() || ready_.has_some() || !callbacks_.empty();
}

inline bool event_loop::must_not_sleep() const noexcept {
  return !inbox_.empty() || ((calls_.load() & stop_asked) != 0 && !stopping_);
}

bool event_loop::expire_timers() {
  if (timers_.empty()) return false;
  dispatched_at_ = is_now_cached_ ? now_ : time_point::max();
  is_now_cached_ = false;
  return timers_.expire(now()) > 0;
}

// ---- Quiet turns: nothing is there but the engine's events, timers and the inbox ------------------------------------

// A fresh time was read after the last handler: the timers have been compared with it.
[[gnu::always_inline]] inline bool event_loop::is_now_fresh() const noexcept {
  return is_now_cached_ && now_at_ == counters_.batches.value();
}

// Does what turn() does, in its order. An engine that remembers a wake() needs no announcement of the sleep.
template <bool Announces, class F>
[[gnu::always_inline]] inline bool event_loop::quiet_turn(F how_long) {
  fair_work_.begin_turn();
  counters_.turns.add();
  duration longest = how_long();
  is_now_cached_ = false;  // the wait may be long
  if constexpr (Announces) sleep_.announce(sleep_place::in_engine);
  if (must_not_sleep()) longest = duration::zero();
  bool worked = engine_->poll(longest);
  sleep_.end();
  if (!timers_.empty() && !(is_now_fresh() && now_ < timers_.first()) && expire_timers()) {
    is_now_cached_ = false;
    worked = true;
  }
  if (!inbox_.empty()) {
    is_now_cached_ = false;
    worked |= inbox_.run_all();
  }
  if (!is_quiet_) [[unlikely]]
    worked |= run_put_off();
  return worked;
}

// ---- All turns ------------------------------------------------------------------------------------------------------

void event_loop::run() {
  const scoped_current here(*this);
  const auto next_is_quiet = [this] { return is_quiet_ && calls_.load(std::memory_order_relaxed) == 0; };
  const auto longest = [this] {  // a timer started while others fired can be overdue
    return timers_.empty()  ? engine::forever
           : is_now_fresh() ? within_bounds(timers_.first() - now_)
                            : longest_wait(true);
  };
  while (!finished()) {
    if (always_wake_)
      while (next_is_quiet()) quiet_turn<false>(longest);
    else
      while (next_is_quiet()) quiet_turn<true>(longest);
    turn(true);
  }
  inbox_.run_all();
  ready_.run_at_end();
  run_deferred();
}

// The engine dispatches a list of events, and channels that it names must live until the turn's end.
bool event_loop::poll() {
  if (current_loop == this) return false;
  const scoped_current here(*this);
  if (sleep_.is_announced()) sleep_.end();
  if (!is_quiet_ || calls_.load(std::memory_order_relaxed) != 0) return turn(false);
  const bool worked = quiet_turn<false>([] { return duration::zero(); });
  is_now_cached_ = false;  // the outer loop may take its time
  return worked;
}

int event_loop::outside_wait::milliseconds() const noexcept { return system_call::to_milliseconds(longest); }

event_loop::outside_wait event_loop::wait_outside() {
  const scoped_current here(*this);
  is_now_cached_ = false;
  asio_guest* const guest = guest_.load(std::memory_order_acquire);
  duration longest = longest_wait(!guest || !guest->poll());
  const int descriptor = descriptor_of(*engine_);
  if ((guest && guest->active()) || descriptor < 0) longest = std::min(longest, guest_pause);
  if (!always_wake_) sleep_.announce(sleep_place::in_engine);  // then check, as in sleep_flag::sleep()
  if (must_not_sleep()) longest = duration::zero();
  return {descriptor, longest};
}

[[gnu::always_inline]] inline bool event_loop::poll_guest(asio_guest& guest) {
  is_now_cached_ = false;
  return guest.poll();
}

// Dispatches the engine's ready events. If allowed, waits for the engine, and for the guest's operations too.
[[gnu::always_inline]] inline bool event_loop::wait_for_work(asio_guest* guest, bool may_wait) {
  duration longest = longest_wait(may_wait);
  const bool guest_waits = guest && guest->active();
  // The guest cannot wait for an engine without a descriptor, so the loop polls the guest at intervals. An always_wake_
  // engine lacks a descriptor only while it watches nothing.
  const bool in_guest = guest_waits && (always_wake_ || descriptor_of(*engine_) >= 0);
  if (guest_waits && !in_guest) longest = std::min(longest, guest_pause);
  is_now_cached_ = false;  // the wait may be long
  try {
    return in_guest ? wait_in_guest(*guest, longest) : wait_in_engine(longest);
  } catch (...) {  // from an Asio handler, run by the engine that owns the guest's context
    if (!context_of(*engine_)) throw;
    sleep_.end();
    detail::note_exception(*this);
    return true;
  }
}

bool event_loop::turn(bool may_wait) {
  fair_work_.begin_turn();
  counters_.turns.add();
  if ((calls_.load(std::memory_order_relaxed) & stop_asked) != 0 && !stopping_) begin_to_stop();
  asio_guest* const guest = guest_.load(std::memory_order_acquire);
  bool worked = guest && poll_guest(*guest);
  worked |= wait_for_work(guest, may_wait && !worked);
  worked |= expire_timers();
  is_now_cached_ = false;  // their dispatching may have taken long
  worked |= inbox_.run_all();
  worked |= run_put_off();
  if (stopping_ && finished()) engine_->flush(engine::flush_extent::closing);
  is_now_cached_ = false;
  is_quiet_ = can_be_quiet_ && !stopping_ && ready_.empty() && deferred_.empty() && fair_work_.empty();
  return worked;
}

duration event_loop::longest_wait(bool may_wait) noexcept {
  if (!may_wait || finished() || !ready_.empty() || !deferred_.empty()) return duration::zero();
  duration most = engine::forever;
  if (!fair_work_.empty()) [[unlikely]] {
    if (fair_work_.can_run()) return duration::zero();
    most = fair_pause;
  }
  if (timers_.empty()) return most;
  const time_point next = timers_.next();
  if (next == time_point::max()) return most;
  is_now_cached_ = false;
  return std::min(std::clamp(between(now(), next), duration::zero(), longest_sleep), most);
}

// Returns whether work arrived while spinning. Otherwise updates `longest`. The loop counts as awake meanwhile, because
// it sees posts by itself.
bool event_loop::spin(asio_guest* guest, duration& longest) {
  const auto outcome = spin_->spin(
      clock_, longest, [&] { return engine_->poll(duration::zero()) || (guest && guest->poll()) || must_not_sleep(); });
  using enum spin_budget::outcome;
  if (outcome == paid) counters_.spins_paid.add();
  if (outcome == failed || outcome == interrupted) counters_.spins_failed.add();
  if (outcome == failed) {
    longest = longest_wait(true);
    is_now_cached_ = false;
  }
  return spin_budget::found(outcome);
}

bool event_loop::wait_in_engine(duration longest) {
  if (longest == duration::zero()) return engine_->poll(longest);
  // An always_wake_ engine needs no announcement of the sleep: it remembers a wake() that comes before its poll().
  if (!sleeps_at_once_) [[unlikely]] {
    if (spin_ && spin(nullptr, longest)) return true;
    if (always_wake_) return engine_->poll(must_not_sleep() ? duration::zero() : longest);
  }
  return sleep_.sleep(
      sleep_place::in_engine, [this] { return must_not_sleep(); },
      [this, longest](bool has_work) { return engine_->poll(has_work ? duration::zero() : longest); });
}

bool event_loop::wait_in_guest(asio_guest& guest, duration longest) {
  if (engine_->poll(duration::zero())) return true;
  if (longest == duration::zero()) return false;
  if (spin_ && spin(&guest, longest)) return true;
  const bool worked = sleep_.sleep(
      sleep_place::in_guest, [this] { return must_not_sleep(); },
      [&](bool has_work) { return !has_work && guest.wait(descriptor_of(*engine_), longest); });
  return engine_->poll(duration::zero()) || worked;
}

// Runs what was put off to the turn's end. Returns whether there was anything.
bool event_loop::run_put_off() noexcept {
  is_now_cached_ = false;
  const bool ends = stopping_ && members_.empty() && notified_.empty();
  bool any = !ready_.empty() && (ends ? ready_.run_at_end() : ready_.run());
  any |= !deferred_.empty() && run_deferred();
  if (!fair_work_.empty()) any |= fair_work_.run_fair_tasks();
  is_now_cached_ = false;
  return any;
}

bool event_loop::run_deferred() noexcept {
  work_fifo now = std::exchange(deferred_, {});  // items deferred meanwhile run in the next turn
  bool any = false;
  for (work_item* item; (item = now.pop()); any = true) (*item)();
  return any;
}

void event_loop::begin_to_stop() noexcept {
  stopping_ = true;
  is_now_cached_ = false;
  // abort() may remove any member and add new ones.
  while (!members_.empty()) {
    loop_member& next = members_.front();
    notified_.splice(notified_.end(), members_, members_.begin());
    next.abort();
  }
}

void event_loop::stop() noexcept {
  calls_.fetch_or(stop_asked);
  wake();
}

void event_loop::post(work_item& item) noexcept {
  inbox_.push(item);
  wake();
}

void event_loop::post(work_fifo& items) noexcept {
  if (items.empty()) return;
  while (work_item* item = items.pop()) inbox_.push(*item);
  wake();
}

// The loop's own thread looks for work before it sleeps: an engine does not wait after a callback.
void event_loop::wake() noexcept {
  if (in_this_thread()) return;
  if (always_wake_) engine_->wake();
  switch (sleep_.end_by_other()) {
    case sleep_place::awake:
      return;
    case sleep_place::in_engine:
      return engine_->wake();
    case sleep_place::in_guest:
      return guest_.load(std::memory_order_acquire)->wake();
  }
}

asio_guest& event_loop::guest() {
  if (asio_guest* made = guest_.load(std::memory_order_acquire)) return *made;
  auto fresh = std::make_unique<asio_guest>(context_of(*engine_), *this);
  calls_.fetch_or(has_guest);  // before the loop can find it
  asio_guest* expected = nullptr;
  if (!guest_.compare_exchange_strong(expected, fresh.get())) return *expected;  // another thread was faster
  return *fresh.release();
}

loop_executor event_loop::get_executor() noexcept { return loop_executor(*this); }

void detail::posted_function::run(work_item& item) noexcept {
  const std::unique_ptr<posted_function> self(static_cast<posted_function*>(&item));
  const callback_scope scope(callback::posted, nullptr, self->type_);
  self->call();
  event_loop::current()->invalidate_now();  // the function may have taken long
}

}  // namespace quintet
