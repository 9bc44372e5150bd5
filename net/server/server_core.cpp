// SPDX-License-Identifier: BSL-1.0
// server_core: makes, starts, drains and ends a server, and adds up its counters.
#include "server_core.hpp"

#include "../engine/make_engine.hpp"
#include "../loop/drain_tracker.hpp"
#include "../loop/placing.hpp"
#include "../loop/prepared_thread.hpp"
#include "../watch/stall_watchdog.hpp"
#include "acceptor_group.hpp"
#include "attached_manager.hpp"
#include "connection_limiter.hpp"
#include "make_watchdog.hpp"
#include "priority_loop.hpp"
#include "rebalancer.hpp"

#include <new>
#include <stdexcept>
#include <utility>

namespace quintet {

[[gnu::weak]] std::unique_ptr<rebalancer> make_rebalancer(const balanced_loops& of);

namespace {

/// Returns the options with what their listeners need of all loops.
server_options checked(server_options options) {
  validate(options);
  add_demands(options.advanced.loop, options.listen);
  return options;
}

void require_shared_memory(const std::vector<event_loop*>& loops) {
  for (event_loop* const loop : loops)
    if (!loop->options().tuning.shared_memory)
      throw config_error("a listener's upgrade is shared_memory; the model's loops must have it in their loop_tuning");
}

}  // namespace

server_core::server_core(server_options options, std::unique_ptr<model_interface> model,
                         std::unique_ptr<detail::session_source> sessions)
    : session_manager(*model),
      options_(checked(std::move(options))),
      host_(options_.limits, options_.memory, options_.log),
      watchdog_(make_watchdog(options_, host_)),
      sessions_(std::move(sessions)),
      limiter_(std::make_unique<connection_limiter>(options_.accepting)),
      owned_model_(std::move(model)),
      main_(make_main_engine(options_), *options_.time, {.tuning = options_.advanced.loop}),
      drain_tracker_(std::make_unique<drain_tracker>(main_)),
      acceptors_(std::make_unique<acceptor_group>(
          main_, model_.loops(), options_, *limiter_,
          [this](event_loop& at, stream_handle&& stream, connection_permit permit) {
            accepted(at, std::move(stream), std::move(permit));
          },
          &model_)) {
  host_.loops = model_.loops();
  host_.model = &model_;
  if (options_.advanced.loop.shared_memory) require_shared_memory(host_.loops);
  if (options_.advanced.rebalance.is_on()) begin_to_rebalance();
  if (wants_priority_loop()) make_priority_loop();
  for (const listen_options& l : options_.listen)
    addresses_.push_back(l.priority ? listen_for_priority(l) : acceptors_->listen(l));
}

server_core::~server_core() { shut_down(); }

bool server_core::wants_priority_loop() const noexcept {
  return options_.advanced.heartbeat.is_on() || options_.advanced.priority.without_listener ||
         options_.advanced.priority.peers || sessions_->has_classify;
}

void server_core::make_priority_loop() {
  priority_ = std::make_unique<priority_loop>(
      options_, host_.registry,
      [this](event_loop& at, stream_handle&& stream, connection_permit permit) {
        drain_tracker_->entered();
        open_session(at, std::move(stream), std::move(permit));
      },
      &model_);
  host_.priority_loop = &priority_->loop();
}

void server_core::begin_to_rebalance() {
  if (!sessions_->can_move)
    throw config_error(
        "rebalance.factor is not 0; it must be 0 because connections of a coroutine, or of a handler "
        "whose move constructor may throw, cannot leave their loop");
  if (!make_rebalancer)
    throw config_error("rebalance.factor is not 0; it must be 0 in a program that does not link quintet::rebalancer");
  rebalancer_ = make_rebalancer({main_, host_.loops, host_.registry, options_.advanced.rebalance, options_.log});
}

address server_core::listen_for_priority(const listen_options& options) {
  if (!priority_) make_priority_loop();
  return priority_->listen(options);
}

std::uint16_t server_core::first_port(bool priority) const noexcept {
  for (std::size_t i = 0; i < addresses_.size(); ++i)
    if (options_.listen[i].priority == priority && addresses_[i].port() != 0) return addresses_[i].port();
  return 0;
}

accept_strategy server_core::accept() const noexcept { return acceptors_->strategy(); }

void server_core::run_once() {
  if (std::exchange(has_run_, true)) throw std::logic_error("a server can run only once; create another server");
}

void server_core::run() {
  run_once();
  start();
  main_.run();
  finish();
}

void server_core::run_in_background() {
  run_once();
  const auto prepare = [this] {
    try {
      start();
    } catch (...) {
      shut_down();  // on this thread: the kernel ends a ring with the thread that made it
      throw;
    }
  };
  background_ = detail::start_prepared_thread("qnt-server", prepare, [this] {
    main_.run();
    finish();
  });
}

void server_core::join() {
  if (background_.joinable()) background_.join();
}

void server_core::end_background() noexcept {
  if (!background_.joinable()) return;
  stop();
  join();
}

void server_core::start() {
  main_.io().prepare();  // it may lack descriptors: the owner must know before it announces the server
  started_ = true;
  if (watchdog_) watchdog_->start();
  acceptors_->start();  // before the loops' threads
  model_.start(main_);
  if (priority_) priority_->start();
  if (rebalancer_) rebalancer_->start();
  if (host_.log) detail::report_cpus(host_.log, host_.loops);
}

void server_core::finish() {
  started_ = false;
  host_.registry.end_moves();  // a loop that has ended would never receive a connection
  model_.stop();               // first: its loops may move connections to the priority loop
  if (priority_) priority_->finish();
  if (watchdog_) watchdog_->stop();
}

void server_core::shut_down() {
  stop();
  join();
  main_.run();
  if (started_) finish();
  model_.end_aside();
  while (run_left_over() || main_.poll()) {  // until nothing is left, while the server's other parts exist
  }
}

// Runs the functions that attach() has posted to loops which had ended.
bool server_core::run_left_over() noexcept {
  bool any = false;
  for (event_loop* const loop : host_.loops) any |= loop->run_left_over();
  return any;
}

// Returns false without memory for the posts to the listening loops.
bool server_core::close_listeners() noexcept {
  if (!started_) return true;  // the other loops do not run: their listeners close with the server
  try {
    acceptors_->close(*drain_tracker_);
    if (priority_) priority_->close(*drain_tracker_);
    main_.invalidate_now();  // accepting what waited may have taken long
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Without memory to ask the main loop, the server stops at once.
void server_core::drain(duration within) noexcept try {
  main_.post([this, within]() noexcept { begin_to_drain(within); });
} catch (const std::bad_alloc&) {
  stop();
}

void server_core::stop_listening() noexcept try {
  main_.post([this]() noexcept {
    if (!close_listeners()) stop();
  });
} catch (const std::bad_alloc&) {
  stop();
}

void server_core::begin_to_drain(duration within) noexcept {
  if (drain_tracker_->begun()) return;
  report(host_.log, {severity::info, "draining"});
  if (!close_listeners()) return stop();
  try {
    host_.registry.drain();
  } catch (const std::bad_alloc&) {  // no memory for the messages to the connections
    return stop();
  }
  drain_tracker_->begin(within);
}

void server_core::attach_connection(event_loop* near, stream_handle&& stream,
                                    std::shared_ptr<detail::attachment> what) {
  detail::attached_manager::attach(*this, near, std::move(stream), std::move(what));
}

server_statistics server_core::statistics() const {
  server_statistics sum;
  detail::add_counters(sum, model_, main_);
  if (watchdog_) sum.stalls = watchdog_->stalls();
  if (rebalancer_) sum.rebalanced = rebalancer_->rounds();
  sum.accept_errors = not_opened_.load(std::memory_order_relaxed);
  sum.handshakes.add(host_.handshakes);
  for (const auto& a : acceptors_->acceptors()) {
    sum.accepted += a->accepted();
    sum.accept_errors += a->errors();
    sum.refused += a->refused();
    a->add_to(sum.handshakes);
    sum.accepted_locally += a->local();
    sum.accepted_by_each.push_back(a->accepted());
  }
  if (priority_) priority_->add_to(sum);
  return sum;
}

void server_core::each_counters(const std::function<void(const loop_counters&)>& f) const {
  f(main_.counters());
  model_.each_counters(f);
  if (priority_) f(priority_->loop().counters());
}

}  // namespace quintet
