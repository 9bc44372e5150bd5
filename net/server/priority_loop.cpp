// SPDX-License-Identifier: BSL-1.0
// priority_loop: makes and starts the loop, schedules its thread, and adds up its counters.
#include "priority_loop.hpp"

#include "../engine/make_engine.hpp"
#include "../engine/shm/offer.hpp"

#include <string>
#include <utility>

namespace quintet {
namespace {

/// Returns the priority loop's accept limits: its own max_connections, and the server's on_refused.
accept_limits limits_of(const server_options& o) {
  return {.max_connections = o.advanced.priority.max_connections, .on_refused = o.accepting.on_refused};
}

}  // namespace

priority_loop::priority_loop(const server_options& options, connection_registry& all, acceptor::admit_function admit,
                             model_interface* model)
    : options_(options.advanced.priority),
      log_(options.log),
      busy_poll_(options.advanced.busy_poll),
      admit_(std::move(admit)),
      limiter_(limits_of(options)),
      loop_(make_engine(options.engine), clock::system(), {.tuning = options.advanced.loop}),
      reserve_(loop_, options_.reserve_descriptors, options_.reserve_memory),
      accepts_(
          loop_, limits_of(options), options.memory, limiter_, log_,
          [this](event_loop& at, stream_handle&& stream, connection_permit t) {
            reserve_.accepted();
            admit_(at, std::move(stream), std::move(t));
          },
          model) {
  if (options.advanced.heartbeat.is_on()) monitor_.emplace(loop_, all, options.advanced.heartbeat);
}

priority_loop::~priority_loop() {
  thread_.reset();
  loop_.stop();
  loop_.run();
}

address priority_loop::listen(const listen_options& options) {
  const address at = listen_at(options);
  if (options.upgrade == connection_upgrade::shared_memory) (void)listen_at(shm::offer_listener_options(options));
  return at;
}

address priority_loop::listen_at(const listen_options& options) {
  listener& made = accepts_.listen(options);
  made.set_busy_poll(busy_poll_);
  made.set_error_handler([this](error_code why) noexcept { return reserve_.try_free_descriptor(why); });
  return made.at();
}

void priority_loop::start() {
  accepts_.start();
  reserve_.refill();
  if (monitor_) monitor_->start();
  thread_.emplace(loop_, "qnt-priority", [this]() noexcept { schedule(); });
}

void priority_loop::close(drain_tracker& unfinished) {
  unfinished.run_on(loop_, [this]() noexcept { accepts_.close(); });
}

// Runs on the priority loop's thread, before the loop.
void priority_loop::schedule() noexcept {
  if (options_.scheduling == priority_scheduling::none) return;
  nice_ = nice_of_this_thread();
  const thread_scheduling got = schedule_this_thread(options_.scheduling);
  note(got);
  if (options_.scheduling != priority_scheduling::real_time && got.preferred()) check_cpu_usage();
}

void priority_loop::note(const thread_scheduling& got) noexcept {
  {
    const std::lock_guard lock(mutex_);
    scheduling_ = got;
  }
  try {
    if (log_) report(log_, {severity::info, "the priority loop's thread is " + to_string(got)});
  } catch (const std::bad_alloc&) {  // no memory for the message
  }
}

// Limits the preference of the thread: any client may connect here and send without end.
void priority_loop::check_cpu_usage() noexcept {
  if (loop_.stopping()) return;
  const time_point now = loop_.time().now();
  const duration used = cpu_time_of_this_thread();
  const bool before = throttle_.granted();
  const duration again = throttle_.update(used - std::exchange(used_, used), now - std::exchange(checked_at_, now));
  if (throttle_.granted() != before)
    note(before ? demote_this_thread(nice_) : schedule_this_thread(options_.scheduling));
  loop_.start(check_timer_, again);
}

thread_scheduling priority_loop::scheduling() const {
  const std::lock_guard lock(mutex_);
  return scheduling_;
}

void priority_loop::add_to(server_statistics& sum) const {
  const loop_counters& counted = loop_.counters();
  sum.add(counted);
  sum.sends_priority = counted.sends.value();
  sum.accepted += accepts_.accepted();
  sum.accept_errors += accepts_.errors();
  sum.refused += accepts_.refused();
  accepts_.add_to(sum.handshakes);
  sum.priority = {.accepted = accepts_.accepted(),
                  .open = limiter_.open(),
                  .descriptors_given = reserve_.descriptors_given(),
                  .memory_given = reserve_.memory_given(),
                  .scheduling = scheduling()};
  if (monitor_) sum.heartbeat = monitor_->statistics();
}

}  // namespace quintet
