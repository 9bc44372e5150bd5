// SPDX-License-Identifier: BSL-1.0
// session_manager: the calls from a session to its server or client, and how it gets a handle that its program opened.
#pragma once

#include "../../base/error.hpp"
#include "../loop/thread_model.hpp"

#include <memory>

namespace quintet {

struct connection_host;

}  // namespace quintet

namespace quintet::detail {

class connection_core;

/// Knows no handler type: sessions pass functions that do. Outlives its sessions.
class session_manager {
 public:
  /// Destroys a session of the type that this function was made for.
  using destroy_function = void (*)(connection_core& session) noexcept;
  struct session_deleter {
    destroy_function destroy;
    void operator()(connection_core* session) const noexcept { destroy(*session); }
  };
  /// A session that has not begun.
  using session_ptr = std::unique_ptr<connection_core, session_deleter>;
  /// Makes a session on loop `to` with the handler of `from`. Null without memory.
  using migrate_function = connection_core* (*)(connection_core& from, event_loop& to, connection_host& host) noexcept;

  session_manager(const session_manager&) = delete;
  session_manager& operator=(const session_manager&) = delete;

  /// [any thread] Returns the thread model, which runs the sessions' items.
  [[nodiscard]] model_interface& model() const noexcept { return model_; }
  /// [any thread] Returns whether run() always runs items of this loop inline.
  [[nodiscard]] virtual bool runs_here(const event_loop& loop) const noexcept = 0;
  /// [any thread] Returns whether its sessions may migrate to another loop. Constant.
  [[nodiscard]] virtual bool can_migrate() const noexcept { return false; }

  /// [loop] The session has ended: calls `destroy`.
  virtual void retire(connection_core& ended, destroy_function destroy) noexcept = 0;
  /// [loop, baton] Calls `make`, unless the loop has no room. Null: the session stays where it is.
  virtual connection_core* migrate(connection_core& /*from*/, event_loop& /*to*/, migrate_function /*make*/) noexcept {
    return nullptr;
  }
  /// [loop] The session has migrated, and another one serves its connection: calls `destroy`.
  virtual void discard(connection_core& migrated, destroy_function destroy) noexcept { destroy(migrated); }

 protected:
  explicit session_manager(model_interface& model) noexcept : model_(model) {}
  ~session_manager() = default;

  model_interface& model_;
};

/// Makes the sessions of a server's connections. Knows the handler's type.
class session_source {
 public:
  session_source(bool moves, bool classifies) noexcept : can_move(moves), has_classify(classifies) {}
  session_source(const session_source&) = delete;
  session_source& operator=(const session_source&) = delete;
  virtual ~session_source() = default;
  /// [loop] Makes the session of an accepted connection. May throw.
  virtual session_manager::session_ptr make(session_manager& manager, event_loop& on, connection_host& host,
                                            const stream_handle& stream) = 0;

  const bool can_move;      ///< the handler may migrate: moving it does not throw, and it is not a coroutine
  const bool has_classify;  ///< the handler chooses the connection's class
};

/// Holds the handler of a connection to be attached, and the function that is called if attaching fails.
class attachment {
 public:
  virtual ~attachment() = default;
  /// [loop] Makes the session and moves the handler into it. May throw.
  virtual session_manager::session_ptr make(session_manager& manager, event_loop& on, connection_host& host) = 0;
  /// [loop] Called when the connection cannot be attached. Must not throw.
  virtual void refuse(error_code why) noexcept = 0;
};

}  // namespace quintet::detail
