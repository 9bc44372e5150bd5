// SPDX-License-Identifier: BSL-1.0
// scenario: the code that runs while one allocation fails, its surroundings, and the checks afterwards.
#pragma once

#include "combination.hpp"
#include "peer.hpp"
#include "running.hpp"

#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quintet::test {

struct surroundings {
  combination under;
  engine_kind engine;
};
inline std::ostream& operator<<(std::ostream& out, const surroundings& s) {
  return out << s.under << '/' << to_string(s.engine);
}

/// Between begin() and end(), one allocation of the server's threads may fail. Outside, none fails.
class injection {
 public:
  virtual void begin() = 0;
  virtual void end() noexcept = 0;

 protected:
  ~injection() = default;
};

/// Treats the calling thread as a thread of the server while this object lives: its allocations may fail.
class as_server_thread {
 public:
  as_server_thread() noexcept;
  ~as_server_thread();
  as_server_thread(const as_server_thread&) = delete;
  as_server_thread& operator=(const as_server_thread&) = delete;

 private:
  bool before_;
};

/// Calls f() as a thread of the server does. Returns false if it throws.
template <class F>
bool succeeds(F f) {
  const as_server_thread here_too;
  try {
    f();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// run() returns how many connections were lost. It throws for every other error.
struct scenario {
  std::string_view name;
  unsigned (*run)(const surroundings& where, injection& faults);
};
extern const scenario echo_scenario, registry_scenario, moving_scenario, awaiting_scenario, accepting_scenario,
    client_scenario, client_lifetime_scenario, lifetime_scenario, options_scenario;

/// A member of every handler and of every function passed to the library: counts those not destroyed.
struct counted {
  counted() noexcept { ++alive; }
  counted(const counted&) noexcept { ++alive; }
  counted& operator=(const counted&) = default;
  ~counted() { --alive; }
  static inline std::atomic<long> alive{0};
};

[[nodiscard]] config config_for(const surroundings& where);

/// A server and two witness connections. They exist before an allocation fails, and do nothing meanwhile.
template <class Handler>
class stage {
 public:
  stage(const config& c, Handler h, std::string question, std::string answer)
      : server_(c, std::move(h)), question_(std::move(question)), answer_(std::move(answer)) {
    for (int i = 0; i < 2; ++i) {
      peer p = connect();
      if (!p.ask(question_, answer_)) throw std::runtime_error("no connection before the failure");
      witnesses_.push_back(std::move(p));
    }
  }
  server* operator->() noexcept { return server_.operator->(); }
  [[nodiscard]] peer connect(int receive_buffer = 0) { return peer(server_->port(), receive_buffer); }
  /// Checks that the witnesses and a new connection get answers.
  void check() {
    for (peer& p : witnesses_)
      if (!p.ask(question_, answer_)) throw std::runtime_error("a connection that had no part in it was lost");
    peer fresh = connect();
    if (!fresh.ask(question_, answer_)) throw std::runtime_error("no new connection afterwards");
  }

 private:
  running<server> server_;
  std::string question_, answer_;
  std::vector<peer> witnesses_;
};

/// Calls f() with the handler of the combination's flavour.
template <class Callback, class Coroutine, class F>
unsigned with_flavour(const surroundings& where, Callback callback, Coroutine coroutine, F f) {
  return where.under.is_coroutine() ? f(std::move(coroutine)) : f(std::move(callback));
}

}  // namespace quintet::test
