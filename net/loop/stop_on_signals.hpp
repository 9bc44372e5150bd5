// SPDX-License-Identifier: BSL-1.0
// stop_on_signals: SIGINT and SIGTERM end a server, at once or in good order.
#pragma once

#include "event_loop.hpp"

#include <csignal>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

namespace quintet {

/// [before run] Calls a function on the loop's thread when one of the signals arrives; each signal once, the second
/// time it has its usual effect. The previous actions are restored by the destructor, which must run after the loop
/// has, and before the loop is destroyed. Of several guards for one signal that one is told which was made last; they
/// must go in the reverse order. What a signal does belongs to the process: a program with several servers has one
/// guard, whose function tells them all.
class signal_guard {
 public:
  /// Throws std::invalid_argument (a signal that cannot be caught), or boost::system::system_error.
  signal_guard(event_loop& on, std::initializer_list<int> signals, std::function<void()> call);
  ~signal_guard();
  signal_guard(const signal_guard&) = delete;
  signal_guard& operator=(const signal_guard&) = delete;

 private:
  class watcher;
  struct saved_action {
    int signal;
    struct sigaction action;
    int target;
  };
  void restore() noexcept;
  std::unique_ptr<watcher> watcher_;
  std::vector<saved_action> saved_;
};

/// [before run] `stop_on_signals stopper(server);` A second signal, while the server is stopping, ends the process.
class stop_on_signals {
 public:
  template <class Server>
  explicit stop_on_signals(Server& server, std::initializer_list<int> signals = {SIGINT, SIGTERM})
      : guard_(server.main_loop(), signals, [&server] { server.stop(); }) {}

 private:
  signal_guard guard_;
};

/// [before run] `drain_on_signals drainer(server, 10s);` The server drains for at most so long (basic_server::drain). A
/// second signal ends the process.
class drain_on_signals {
 public:
  template <class Server>
  drain_on_signals(Server& server, duration within, std::initializer_list<int> signals = {SIGINT, SIGTERM})
      : guard_(server.main_loop(), signals, [&server, within] { server.drain(within); }) {}

 private:
  signal_guard guard_;
};

}  // namespace quintet
