// SPDX-License-Identifier: BSL-1.0
// basic_client: connect on the main loop, place by the model, run handlers where the model says.
#pragma once

#include "../connection/session.hpp"
#include "../engine/make_engine.hpp"
#include "../loop/loop_thread.hpp"
#include "../loop/placing.hpp"
#include "../loop/thread_model.hpp"
#include "../watch/thread_name.hpp"
#include "client_link.hpp"
#include "client_statistics.hpp"

#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace quintet {

/// A client whose threading model is a type. `quintet::client` is the same with the model chosen at run time.
template <thread_model Model, handler_or_factory Handler>
class basic_client {
 public:
  /// Throws config_error.
  basic_client(client_options options, Model model, Handler handler)
      : options_((validate(options), std::move(options))),
        host_(options_.limits, options_.memory, options_.log),
        model_(std::move(model)),
        source_{std::move(handler)},
        main_(make_main_engine(options_), *options_.time, {.tuning = options_.loop}),
        links_(main_, options_, host_.registry) {}
  /// Stops, and waits for the thread of run_in_background(). At any time, on any thread; but not on one of its own, nor
  /// while run() is under way, nor while another thread uses it.
  ~basic_client() {
    stop();
    join();
    main_.run();  // what was asked for and has never begun is told so
    if (started_) finish();
    links_.close();
    while (main_.poll()) {  // all of it while the rest of the client still lives
    }
  }
  basic_client(const basic_client&) = delete;
  basic_client& operator=(const basic_client&) = delete;

  /// Serves its connections until stop(). When it returns, all of them have been closed and every thread has ended.
  /// This, or run_in_background(), once: the second time either of them throws std::logic_error.
  void run() {
    run_once();
    start();
    main_.run();
    finish();
  }
  /// The same on a thread of its own, which the destructor joins. Throws what the model throws when it starts.
  void run_in_background();
  /// Waits for the thread of run_in_background(), which ends after stop() or drain(); without one returns at once. Not
  /// from a thread of the client.
  void join() {
    if (background_.joinable()) background_.join();
  }
  /// [any thread] Also before run(), which then returns soon.
  void stop() noexcept { main_.stop(); }
  /// [any thread] Stops in good order, as basic_server::drain() does: attempts are given up (errc::stopped), and there
  /// are no more; what the kernel has received on each connection by now is answered, on_drain is called (a coroutine:
  /// read() returns nullopt, and draining() is true), the output leaves, and the connection closes. run() returns when
  /// the last one has gone, or after `within`, when what is left is closed as by stop(). Once; stop() may follow.
  void drain(duration within) {
    main_.post([this, within]() noexcept { links_.drain(within); });
  }

  /// [any thread] Connects, once the client runs; see destination for what is allowed. What comes of it is told to the
  /// handler's on_open, or to on_connect_failed.
  link_id connect(destination to) { return links_.start(std::make_unique<link>(*this, std::move(to))); }
  /// [any thread] Ends a link: an attempt is given up, a connection is closed as by connection_registry::close(), and
  /// there is no next one. Harmless when it is over.
  void disconnect(link_id which) { links_.disconnect(which); }

  /// [any thread] Links that are not over: connect() begins one.
  [[nodiscard]] std::size_t links() const noexcept { return links_.size(); }
  [[nodiscard]] event_loop& main_loop() noexcept { return main_; }
  /// [any thread] The client's connections by id: to send to them, close them, post to them.
  [[nodiscard]] connection_registry& connections() noexcept { return host_.registry; }
  /// [any thread] What a model counts, it says itself: see model().
  [[nodiscard]] client_statistics statistics() const;
  /// [any thread]
  [[nodiscard]] const Model& model() const noexcept { return model_; }

  // run() in three parts, for a client whose main loop is driven by hand:
  // start(), main_loop().poll() until stop() has been called and main_loop().finished(), finish().
  void start() {
    started_ = true;
    model_.start(main_);
  }
  void finish() {
    started_ = false;
    model_.stop();
    main_.poll();  // links whose connections ended with the model's loops
    links_.clear();
  }

 private:
  using handler_type = typename detail::handler_source<Handler>::type;
  class link;

  void run_once() {
    if (std::exchange(has_run_, true)) throw std::logic_error("a client runs once: make another one");
  }

  client_options options_;
  connection_host host_;  // before the loops, which outlive the connections on them
  Model model_;
  detail::handler_source<Handler> source_;
  event_loop main_;
  client_links links_;
  std::thread background_;
  bool has_run_ = false;
  bool started_ = false;  // and not finished
};

/// The owner of its connection, so that it learns of the end.
template <thread_model Model, handler_or_factory Handler>
class basic_client<Model, Handler>::link final : public client_link {
 public:
  link(basic_client& client, destination to) : client_link(client.links_, std::move(to)), client_(client) {}

 private:
  using session = detail::session_for<link, handler_type>;
  friend session;

  void place(int handle) override {
    detail::place(client_.model_, client_.main_, client_.model_.place(),
                  [this, handle](event_loop& on) noexcept { admit(on, handle); });
  }
  void admit(event_loop& on, int handle) noexcept;
  handler_type next_handler(engine& io, int handle);
  void run_by_model(quintet::work_item& item) noexcept { client_.model_.run(item); }
  [[nodiscard]] bool runs_here(const event_loop&) const noexcept { return detail::runs_inline(client_.model_); }
  static constexpr bool can_migrate = false;  // for sessions
  void retire(session* s) noexcept;

  basic_client& client_;
  std::optional<handler_type> kept_;  // of the last connection; whoever has the link may touch it
};

template <thread_model Model, handler_or_factory Handler>
auto basic_client<Model, Handler>::link::next_handler(engine& io, int handle) -> handler_type {
  if (!kept_) return client_.source_.make(io, handle);
  handler_type last = std::move(*kept_);
  kept_.reset();
  return last;
}

template <thread_model Model, handler_or_factory Handler>
void basic_client<Model, Handler>::link::admit(event_loop& on, int handle) noexcept {
  session* s = nullptr;
  try {
    s = new session(*this, on, client_.host_, next_handler(on.io(), handle));
  } catch (...) {  // a handler's copy constructor, or no memory
    on.counters().handler_errors.add();
    on.io().close(handle);
    detail::release_place(client_.model_, on);
    return refused();
  }
  s->begin(handle);  // owns itself and the handle from here on, and lives until the end of this turn at least
  opened(s->id());
}

template <thread_model Model, handler_or_factory Handler>
void basic_client<Model, Handler>::link::retire(session* s) noexcept {
  event_loop& loop = s->loop();
  const bool closed_here = s->closed_here();
  try {
    if (client_.options_.reconnect && client_.options_.reconnect->keep_handler && s->reason() != errc::handler_threw)
      kept_.emplace(std::move(s->handler_));
  } catch (...) {  // the next connection gets a new one
    loop.counters().handler_errors.add();
  }
  delete s;
  detail::release_place(client_.model_, loop);
  ended(closed_here);
}

template <thread_model Model, handler_or_factory Handler>
void basic_client<Model, Handler>::run_in_background() {
  run_once();
  std::promise<void> started;
  background_ = std::thread([this, &started] {
    name_this_thread("qnt-client");
    try {
      main_.io().prepare();
      start();
    } catch (...) {
      return started.set_exception(std::current_exception());
    }
    started.set_value();
    main_.run();
    finish();
  });
  started.get_future().get();
}

template <thread_model Model, handler_or_factory Handler>
client_statistics basic_client<Model, Handler>::statistics() const {
  client_statistics sum;
  detail::add_counters(sum, model_, const_cast<basic_client*>(this)->main_);
  sum.attempts = links_.attempts();
  sum.failures = links_.failures();
  return sum;
}

}  // namespace quintet
