// SPDX-License-Identifier: BSL-1.0
// basic_server: accept, place by the model, run handlers where the model says.
#pragma once

#include "../connection/session.hpp"
#include "../engine/make_engine.hpp"
#include "../loop/drainage.hpp"
#include "../loop/placing.hpp"
#include "../loop/thread_model.hpp"
#include "../options/server_options.hpp"
#include "acceptor_group.hpp"
#include "attacher.hpp"
#include "make_watchdog.hpp"
#include "priority_loop.hpp"
#include "rebalancer.hpp"
#include "server_statistics.hpp"

#include <cassert>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace quintet {

/// A server whose threading model is a type. `quintet::server` is the same with the model chosen at run time.
template <thread_model Model, handler_or_factory Handler>
class basic_server {
 public:
  /// Binds and listens at once. Throws config_error, or boost::system::system_error (a port in use).
  basic_server(server_options options, Model model, Handler handler)
      : options_((validate(options), std::move(options))),
        host_(options_.limits, options_.memory, options_.log),
        watchdog_(make_watchdog(options_, host_)),
        model_(std::move(model)),
        source_{std::move(handler)},
        main_(make_main_engine(options_), *options_.time, {.tuning = options_.advanced.loop}),
        acceptors_(main_, detail::lasting_loops(model_), options_, limiter_,
                   [this](event_loop& at, int fd, connection_limiter::permit permit) {
                     accepted(at, fd, std::move(permit));
                   }) {
    host_.loops = detail::lasting_loops(model_);
    if (options_.advanced.rebalance.is_on()) make_rebalancer();
    if (wants_priority_loop()) make_priority_loop();
    for (const listen_options& l : options_.listen)
      addresses_.push_back(l.priority ? listen_for_priority(l) : acceptors_.listen(l));
  }
  /// At any time, on any thread; but not on one of its own, nor while run() is under way, nor while another thread uses
  /// it. What has been posted to its main loop runs before.
  ~basic_server() {
    stop();
    main_.run();
    if (started_) finish();
    while (run_left_over() || main_.poll()) {  // all of it while the rest of the server still lives
    }
  }
  basic_server(const basic_server&) = delete;
  basic_server& operator=(const basic_server&) = delete;

  /// Serves until stop(). When it returns, every connection has been closed and every thread has ended. Once: the
  /// second time it throws std::logic_error, because what it listened on is closed.
  void run() {
    if (std::exchange(has_run_, true)) throw std::logic_error("a server runs once: make another one");
    start();
    main_.run();
    finish();
  }
  /// [any thread] Closes every connection at once. Also before run(), which then returns soon.
  void stop() noexcept { main_.stop(); }
  /// [any thread] Stops in good order: listens no more; answers what the kernel has received from each client by now,
  /// calls on_drain (a coroutine: read() returns nullopt, and draining() is true), sends what is to be sent, and
  /// closes. What a client sends after that gets no answer, and no handler sees it. run() returns when the last
  /// connection has gone, or after `within`, when what is left is closed as by stop(). Once; stop() may follow at any
  /// time.
  void drain(duration within) {
    main_.post([this, within]() noexcept { begin_to_drain(within); });
  }

  /// [any thread] Listens no more; the connections there are go on.
  void stop_listening() {
    main_.post([this]() noexcept {
      if (!close_listeners()) stop();
    });
  }
  /// [any thread] Makes a connection of one that the program has begun itself (net/connector.hpp), and whose handle is
  /// this server's from now on. It lives on the loop `near`, beside the connection that needs it; without one, and
  /// where a loop serves one connection alone (thread_per_connection), on the one that the model picks. It has a
  /// handler of its own kind, and else all that the server's others have, ids and limits, and is drained and stopped
  /// with them; what limits accepting does not count it. Where it cannot be made, refused(error_code) is called, on a
  /// loop's thread, and must not throw: with errc::stopped when that loop has stopped, which may be as late as in the
  /// server's destructor. When attach() throws, for want of memory, the handle is still the caller's.
  template <handler H, std::invocable<error_code> F>
  void attach(event_loop* near, int handle, H h, F refused) {
    detail::attacher<basic_server, H>::attach(*this, near, handle, std::move(h), std::move(refused));
  }

  /// [any thread] Who accepts: another one than was asked for, where that could not be had.
  [[nodiscard]] accept_strategy accept() const noexcept { return acceptors_.strategy(); }
  /// [any thread] Where it listens, in the order of the options, with the ports that were bound.
  [[nodiscard]] const std::vector<address>& addresses() const noexcept { return addresses_; }
  /// [any thread] The first port of the ordinary listeners and of the priority loop; 0 when there is none.
  [[nodiscard]] std::uint16_t port() const noexcept { return first_port(false); }
  [[nodiscard]] std::uint16_t priority_port() const noexcept { return first_port(true); }
  [[nodiscard]] event_loop& main_loop() noexcept { return main_; }
  /// [any thread] Where connections live, and may be moved to (connection::move_to), in the model's order. None where
  /// that is one loop for all, or one for each.
  [[nodiscard]] const std::vector<event_loop*>& loops() const noexcept { return host_.loops; }
  /// [any thread] The server's connections by id: to send to them, close them, post to them.
  [[nodiscard]] connection_registry& connections() noexcept { return host_.registry; }
  /// [any thread] What a model counts, it says itself: see model().
  [[nodiscard]] server_statistics statistics() const;
  /// [any thread]
  [[nodiscard]] const Model& model() const noexcept { return model_; }
  /// [any thread] The same for each loop: f(const loop_counters&), of the main one first.
  template <class F>
  void each_counters(F f) const {
    f(const_cast<basic_server*>(this)->main_.counters());
    if constexpr (requires { model_.each_counters(f); }) model_.each_counters(f);
  }

  // run() in three parts, for a server whose main loop is driven by hand:
  // start(), main_loop().poll() until stop() has been called and main_loop().finished(), finish().
  void start();
  void finish();

 private:
  using handler_type = typename detail::handler_source<Handler>::type;
  using session = detail::session_for<basic_server, handler_type>;
  friend session;
  template <class Server, handler H>
  friend class detail::attacher;
  static constexpr bool can_migrate = true;  // for sessions

  /// What has been posted to loops after they have ended: an attach().
  bool run_left_over() noexcept {
    bool any = false;
    for (event_loop* const loop : host_.loops) any |= loop->run_left_over();
    return any;
  }
  [[nodiscard]] bool is_priority(const event_loop& loop) const noexcept { return priority_ && priority_->owns(loop); }
  void run_by_model(work_item& item) noexcept { model_.run(item); }
  [[nodiscard]] bool runs_here(const event_loop& on) const noexcept {
    return is_priority(on) || detail::runs_inline(model_);
  }
  [[nodiscard]] bool wants_priority_loop() const noexcept {
    return options_.advanced.heartbeat.is_on() || options_.advanced.priority.without_listener ||
           options_.advanced.priority.peers || detail::has_classify<handler_type>;
  }
  void make_priority_loop();
  void make_rebalancer();
  address listen_for_priority(const listen_options& options);
  [[nodiscard]] std::uint16_t first_port(bool priority) const noexcept;
  [[nodiscard]] bool close_listeners() noexcept;
  void begin_to_drain(duration within) noexcept;
  void accepted(event_loop& at, int fd, connection_limiter::permit permit);
  void admit(event_loop& on, int fd, connection_limiter::permit permit) noexcept;
  session* make_session(event_loop& on, int fd);
  [[nodiscard]] connection_limiter& limiter_of(const event_loop& loop) noexcept {
    return is_priority(loop) ? priority_->admitted() : limiter_;
  }
  void discard(session* s) noexcept;
  void retire(session* s) noexcept {
    discard(s);
    drainage_.left();
  }
  session* make_migrated(session& old, event_loop& on) noexcept;
  session* migrate_to_priority_loop(session& old) noexcept;
  [[nodiscard]] bool is_preferred(event_loop& at, int fd) const;
  bool give_to_priority_loop(int fd);
  void release(event_loop& loop) noexcept {
    if (is_priority(loop))
      priority_->left();
    else
      detail::release_place(model_, loop);
  }

  server_options options_;
  connection_host host_;  // before the loops, which outlive the connections on them
  std::unique_ptr<stall_watchdog> watchdog_;
  connection_limiter limiter_{options_.accepting};
  Model model_;
  detail::handler_source<Handler> source_;
  event_loop main_;
  drainage drainage_{main_};
  acceptor_group acceptors_;
  std::optional<rebalancer> rebalancer_;
  std::optional<priority_loop> priority_;
  std::vector<address> addresses_;
  bool has_run_ = false;
  bool started_ = false;  // and not finished
};

template <thread_model Model, handler_or_factory Handler>
void basic_server<Model, Handler>::make_priority_loop() {
  priority_.emplace(options_, host_.registry, [this](event_loop& at, int fd, connection_limiter::permit permit) {
    drainage_.entered();
    admit(at, fd, std::move(permit));
  });
  host_.priority_loop = &priority_->loop();
}

template <thread_model Model, handler_or_factory Handler>
void basic_server<Model, Handler>::make_rebalancer() {
  if (!session::moves)
    throw config_error(
        "rebalance.factor: connections of a coroutine, or of a handler that cannot be moved without "
        "throwing, stay on their loop");
  rebalancer_.emplace(main_, host_.loops, host_.registry, options_.advanced.rebalance, options_.log);
}

template <thread_model Model, handler_or_factory Handler>
address basic_server<Model, Handler>::listen_for_priority(const listen_options& options) {
  if (!priority_) make_priority_loop();
  return priority_->listen(options);
}

template <thread_model Model, handler_or_factory Handler>
std::uint16_t basic_server<Model, Handler>::first_port(bool priority) const noexcept {
  for (std::size_t i = 0; i < addresses_.size(); ++i)
    if (options_.listen[i].priority == priority && addresses_[i].port() != 0) return addresses_[i].port();
  return 0;
}

template <thread_model Model, handler_or_factory Handler>
void basic_server<Model, Handler>::start() {
  started_ = true;
  if (watchdog_) watchdog_->start();
  acceptors_.start();  // before the loops' threads
  model_.start(main_);
  if (priority_) priority_->start();
  if (rebalancer_) rebalancer_->start();
  if (host_.log) detail::report_cpus(host_.log, host_.loops);
}

template <thread_model Model, handler_or_factory Handler>
void basic_server<Model, Handler>::finish() {
  started_ = false;
  host_.registry.end_moves();  // to a loop that has ended, none would arrive
  model_.stop();               // first: its loops may give connections to the priority loop
  if (priority_) priority_->finish();
  if (watchdog_) watchdog_->stop();
}

// False: there is no memory to tell the loops that listen.
template <thread_model Model, handler_or_factory Handler>
bool basic_server<Model, Handler>::close_listeners() noexcept {
  if (!started_) return true;  // the loops of the others run no more, or never have: they close with the server
  try {
    acceptors_.close(drainage_);
    if (priority_) priority_->close(drainage_);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

template <thread_model Model, handler_or_factory Handler>
void basic_server<Model, Handler>::begin_to_drain(duration within) noexcept {
  if (drainage_.begun()) return;
  report(host_.log, {severity::info, "draining"});
  if (!close_listeners()) return stop();
  try {
    host_.registry.drain();
  } catch (const std::bad_alloc&) {  // there is no memory to tell the connections with
    return stop();
  }
  drainage_.begin(within);
}

// On one of the model's loops, which it stays on, or on the main one, for the model to place. When this throws, the
// handle is still the caller's.
template <thread_model Model, handler_or_factory Handler>
void basic_server<Model, Handler>::accepted(event_loop& at, int fd, connection_limiter::permit permit) {
  if (is_preferred(at, fd) && give_to_priority_loop(fd)) return;
  drainage_.entered();
  if (&at != &main_) return admit(at, fd, std::move(permit));
  try {
    detail::place(model_, main_, detail::pick(model_, main_, fd),
                  [this, fd, t = std::move(permit)](event_loop& on) mutable noexcept { admit(on, fd, std::move(t)); });
  } catch (...) {
    drainage_.left();
    throw;
  }
}

template <thread_model Model, handler_or_factory Handler>
auto basic_server<Model, Handler>::make_session(event_loop& on, int fd) -> session* {
  const auto make = [&] { return new session(*this, on, host_, source_.make(on.io(), fd)); };
  return is_priority(on) ? priority_->with_memory(make) : make();
}

template <thread_model Model, handler_or_factory Handler>
void basic_server<Model, Handler>::admit(event_loop& on, int fd, connection_limiter::permit permit) noexcept {
  session* s = nullptr;
  try {
    s = make_session(on, fd);
    limiter_of(on).commit(std::move(permit), s);
  } catch (...) {  // a handler's copy constructor, or no memory: this connection is refused, nothing else happens
    report(host_.log,
           {severity::warning, "a connection is refused: its handler could not be made", errc::handler_threw});
    delete s;
    on.counters().handler_errors.add();
    on.io().close(fd);
    release(on);
    return drainage_.left();
  }
  s->begin(fd);  // owns itself and the handle from here on
}

template <thread_model Model, handler_or_factory Handler>
void basic_server<Model, Handler>::discard(session* s) noexcept {
  event_loop& loop = s->loop();
  // Given back at the end: the connection that takes its place may want its thread.
  const connection_limiter::permit place = limiter_of(loop).release(s);
  delete s;
  release(loop);
}

// For another loop, on the old one's thread. Nothing: there is no room, or no memory.
template <thread_model Model, handler_or_factory Handler>
auto basic_server<Model, Handler>::make_migrated(session& old, event_loop& on) noexcept -> session* {
  if (is_priority(on)) return migrate_to_priority_loop(old);
  auto* const next = new (std::nothrow) session(old, on, host_);
  if (!next) return nullptr;
  limiter_.transfer(&old, next);
  detail::occupy_place(model_, on);
  return next;
}

template <thread_model Model, handler_or_factory Handler>
auto basic_server<Model, Handler>::migrate_to_priority_loop(session& old) noexcept -> session* {
  try {
    std::optional<connection_limiter::permit> place = priority_->admitted().try_acquire({});
    if (!place || !*place) return nullptr;
    session* const next = new (std::nothrow) session(old, priority_->loop(), host_);
    if (next) priority_->admitted().commit(std::move(*place), next);  // of no network: it cannot throw
    return next;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

template <thread_model Model, handler_or_factory Handler>
bool basic_server<Model, Handler>::is_preferred(event_loop& at, int fd) const {
  return options_.advanced.priority.peers && !at.options().own_descriptors &&
         options_.advanced.priority.peers(at.io().sockets().remote_address(fd));
}

// False: it has no room.
template <thread_model Model, handler_or_factory Handler>
bool basic_server<Model, Handler>::give_to_priority_loop(int fd) {
  std::optional<connection_limiter::permit> place = priority_->admitted().try_acquire({});
  if (!place || !*place) return false;
  drainage_.entered();
  try {
    priority_->loop().post(
        [this, fd, t = std::move(*place)]() mutable noexcept { admit(priority_->loop(), fd, std::move(t)); });
    return true;
  } catch (const std::bad_alloc&) {
    drainage_.left();
    return false;
  }
}

template <thread_model Model, handler_or_factory Handler>
server_statistics basic_server<Model, Handler>::statistics() const {
  server_statistics sum;
  auto& self = const_cast<basic_server&>(*this);  // counters() is the loops' own, non-const accessor
  detail::add_counters(sum, model_, self.main_);
  if (watchdog_) sum.stalls = watchdog_->stalls();
  if (rebalancer_) sum.rebalanced = rebalancer_->rounds();
  for (const auto& a : acceptors_.acceptors()) {
    sum.accepted += a->accepted();
    sum.accept_errors += a->errors();
    sum.refused += a->refused();
    sum.accepted_locally += a->local();
    sum.accepted_by_each.push_back(a->accepted());
  }
  if (priority_) priority_->add_to(sum);
  return sum;
}

}  // namespace quintet
