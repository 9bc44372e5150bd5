// SPDX-License-Identifier: BSL-1.0
// program: the handlers of a sequence, which perform the requested actions and record their observations.
#pragma once

#include "life.hpp"
#include "record.hpp"

#include <quintet/net/connection.hpp>
#include <quintet/net/handler.hpp>

#include <utility>

namespace quintet::testing {

/// Marks a call of the handler. Reports overlapping calls, calls before on_open and calls after on_close.
class work_scope {
 public:
  enum class role : std::uint8_t { input, other, end };
  work_scope(stage& on, life& l, const char* what, role as = role::other);
  work_scope(const work_scope&) = delete;
  work_scope& operator=(const work_scope&) = delete;
  ~work_scope();

 private:
  void note();
  stage& stage_;
  life& life_;
  role role_;
};

/// [baton] Performs the action. Returns false if the handler must leave the rest of the batch.
bool perform(stage& on, life& l, connection& c, action what, std::uint32_t amount);
void write_record(stage& on, life& l, connection& c, action how, std::size_t size);
// [any thread] Calls through the registry.
void send_from_outside(stage& on, life& to, connection_registry& registry, std::size_t size);
void post_from_outside(stage& on, life& to, connection_registry& registry, action what, std::uint32_t amount);
void close_from_outside(life& to, connection_registry& registry);
void abort_from_outside(life& to, connection_registry& registry);
void cancel_from_outside(life& to, connection_registry& registry);
void broadcast_from_outside(stage& on, connection_registry& registry, std::size_t size);

/// Counts the living programs. A moved-from program counts until it is destroyed.
class counted_program {
 public:
  counted_program(stage& on, life& l) noexcept : stage_(&on), life_(&l) { ++programs_alive; }
  counted_program(counted_program&& other) noexcept : stage_(other.stage_), life_(other.life_) { ++programs_alive; }
  counted_program(const counted_program&) = delete;
  counted_program& operator=(const counted_program&) = delete;
  ~counted_program() { --programs_alive; }

 protected:
  stage* stage_;
  life* life_;
};

class plain_program : public counted_program {
 public:
  using counted_program::counted_program;
  void on_open(connection& c);
  std::size_t operator()(connection& c, bytes in);
  void on_close(connection& c, error_code why);
};

class full_program : public plain_program {
 public:
  using plain_program::plain_program;
  void on_writable(connection& c);
  void on_read_eof(connection& c);
  void on_drain(connection& c);
  std::size_t on_overload(connection& c, bytes in) { return (*this)(c, in); }
};

class classified_program : public full_program {
 public:
  using full_program::full_program;
  [[nodiscard]] connection_class classify(bytes first);
};

}  // namespace quintet::testing
