// SPDX-License-Identifier: BSL-1.0
// session_interface: the calls from a connection to its session (the connection with its handler).
#pragma once

#include "../../base/bytes.hpp"
#include "connection_context.hpp"

#include <cstddef>
#include <cstdint>

namespace quintet {

class work_item;
enum class cancel_reason : std::uint8_t;
enum class connection_class : std::uint8_t;

}  // namespace quintet

namespace quintet::detail {

class connection_core;

/// dispatch() asks the thread model to run the connection's work item. The item calls a run_ function, which returns
/// with the baton still held. This class shares the channel's virtual table, so that a connection has one pointer less.
class session_interface : public connection_context {
 public:
  /// [loop] The first call: hands over the handle, unless it returns an error. See connection_core::open().
  [[nodiscard]] virtual error_code begin(int handle) noexcept = 0;
  virtual void dispatch(work_item& item) noexcept = 0;
  virtual void run_open() = 0;
  /// Returns the number of bytes used.
  virtual std::size_t run_batch(bytes input) = 0;
  virtual std::size_t run_overload(bytes) { return 0; }
  virtual connection_class run_classify(bytes) { return {}; }  // ordinary
  virtual void run_writable() = 0;
  virtual void run_read_eof() {}
  virtual void run_drain() {}
  virtual void run_close(error_code why) noexcept = 0;
  /// [loop] The last call.
  virtual void destroy() noexcept = 0;
  /// [loop, baton] Makes an object with the handler on the loop to which the connection migrates. It must not touch its
  /// loop before it is attached there. Returns null if that fails.
  virtual connection_core* make_migrated(event_loop&) noexcept { return nullptr; }
  /// [loop] The last call if the connection has migrated.
  virtual void discard() noexcept {}
  [[nodiscard]] virtual const char* handler_type() const noexcept = 0;
  /// [loop] Cancels what the baton's holder awaits now, and what it begins later.
  virtual void interrupt(cancel_reason) noexcept {}

 protected:
  using connection_context::connection_context;
  ~session_interface() = default;
};

}  // namespace quintet::detail
