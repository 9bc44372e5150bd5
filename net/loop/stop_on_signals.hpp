// SPDX-License-Identifier: BSL-1.0
// stop_on_signals: SIGINT and SIGTERM stop or drain a server.
#pragma once

#include "event_loop.hpp"

#include <csignal>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include <pthread.h>

namespace quintet {

/// [before run] Calls a function on the loop's thread when one of the signals arrives. Afterwards all of
/// them have their usual effect.
///
/// The constructor unblocks the signals on its thread; a parent process may have blocked them. In a child of fork()
/// they have their usual effect, and none on the parent.
///
/// The destructor restores the previous actions. It must run after the loop has run, and before the loop is destroyed.
/// Among several guards for one signal the newest is called. Destroy guards in the reverse order of construction. A
/// signal's action belongs to the process: a program with several servers has one guard, whose function calls them all.
class signal_guard {
 public:
  /// Throws std::invalid_argument for a signal that cannot be caught, and boost::system::system_error if the loop
  /// cannot watch for signals.
  signal_guard(event_loop& on, std::initializer_list<int> signals, std::function<void()> call);
  ~signal_guard();
  signal_guard(const signal_guard&) = delete;
  signal_guard& operator=(const signal_guard&) = delete;

 private:
  class watcher;
  struct saved_action {
    int signal;
    struct sigaction action;
    std::uint64_t target;
  };
  void unblock(std::initializer_list<int> signals) noexcept;
  void restore() noexcept;
  std::unique_ptr<watcher> watcher_;
  std::vector<saved_action> saved_;
  sigset_t blocked_before_{};
  pthread_t unblocked_on_{};
};

/// [before run] Stops the server: `stop_on_signals stopper(server);`. A second signal during the stop ends the process.
class stop_on_signals {
 public:
  /// Takes the signals over until the destructor.
  template <class Server>
  explicit stop_on_signals(Server& server, std::initializer_list<int> signals = {SIGINT, SIGTERM})
      : guard_(server.main_loop(), signals, [&server] { server.stop(); }) {}

 private:
  signal_guard guard_;
};

/// [before run] Drains the server (basic_server::drain) for at most `within`: `drain_on_signals drainer(server, 10s);`.
/// A second signal ends the process.
class drain_on_signals {
 public:
  /// Takes the signals over until the destructor.
  template <class Server>
  drain_on_signals(Server& server, duration within, std::initializer_list<int> signals = {SIGINT, SIGTERM})
      : guard_(server.main_loop(), signals, [&server, within] { server.drain(within); }) {}

 private:
  signal_guard guard_;
};

}  // namespace quintet
