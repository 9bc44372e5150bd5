// SPDX-License-Identifier: BSL-1.0
// service: the line protocol that the conformance suite speaks, once as callbacks and once as a coroutine.
#pragma once

#include "observer.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace quintet::test {

struct service_options {
  bool greeting = false;              ///< sends "hello" when a connection opens
  bool close_after_greeting = false;  ///< closes the connection after the greeting
  int throw_in_open_of = -1;          ///< number of the connection whose on_open throws, from 0; -1: none
  bool throw_at_close = false;
  std::size_t max_request = 64 * 1024 * 1024;  ///< for coroutines: they keep unused input themselves
};

/// Shared by all connections of a server.
struct service_context {
  service_options options;
  observer seen;
  gate block;                         ///< where "block" waits
  std::function<void()> stop_server;  ///< what "stop" calls
};

struct answer {
  std::string text = {};
  bool close = false;
  bool flush = false;
};

/// The protocol, without input and output; both flavours use it. A request is a line:
///
///   echo X         X
///   raw N          followed by N bytes of any kind, which are the reply
///   count          how many requests this connection has made
///   size N         N bytes and a line end
///   delay N X      X, after a sleep of N microseconds           (expensive)
///   block          "unblocked", when the test opens the gate    (expensive)
///   sum N          1 + ... + N                                  (expensive)
///   throw          an exception leaves the handler
///   throw-expensive     an exception leaves the expensive part       (expensive)
///   catch-expensive     the same, caught: "caught ..."               (expensive)
///   stop           stops the server
///   flush          no reply, but what was written so far is sent
///   quit           "bye", and the connection is closed
class session {
 public:
  explicit session(service_context& c) noexcept : context_(&c) {}

  /// Throws if the options say so. Returns the greeting.
  answer open(bool on_loop);
  void close(error_code why, bool on_loop);
  /// Returns the length of the first request if it is complete, else 0. Stores how far it has searched.
  std::size_t complete(bytes unread);
  [[nodiscard]] static bool is_expensive(bytes request);
  [[nodiscard]] answer reply_to(bytes request, bool on_loop);
  void note_callback(bool on_loop);
  [[nodiscard]] const service_options& options() const { return context_->options; }
  [[nodiscard]] observer& seen() const { return context_->seen; }
  [[nodiscard]] visit* current() const { return visit_; }

 private:
  [[nodiscard]] answer execute(bytes verb, bytes rest);

  service_context* context_;
  visit* visit_ = nullptr;
  std::size_t looked_at_ = 0;
};

class callback_service {
 public:
  explicit callback_service(service_context& c) noexcept : session_(c) {}
  void on_open(connection& c);
  std::size_t operator()(connection& c, bytes in);
  void on_close(connection& c, error_code why);

 private:
  session session_;
};

class coroutine_service {
 public:
  explicit coroutine_service(service_context& c) noexcept : context_(&c) {}
  awaitable<> operator()(stream& s) const;

 private:
  service_context* context_;
};

}  // namespace quintet::test
