// SPDX-License-Identifier: BSL-1.0
// session_interface: what a connection asks of its session, which is the connection together with a handler.
#pragma once

#include "../../base/bytes.hpp"
#include "connection_class.hpp"
#include "connection_context.hpp"

#include <cstddef>
#include <typeinfo>

namespace quintet {

class work_item;

}  // namespace quintet

namespace quintet::detail {

class connection_core;
struct urgent_findings;

/// dispatch() asks the thread model to run the connection's work item; the item calls a run_ function, which returns
/// with the baton still held. It shares the channel's virtual table, so that a connection has one pointer less.
class session_interface : public connection_context {
 public:
  /// [loop] The first call: the connection owns the handle from now on. See connection_core::open().
  virtual void begin(int handle) noexcept = 0;
  virtual void dispatch(work_item& item) noexcept = 0;
  virtual void run_open() = 0;
  /// Returns how much of the input was used.
  virtual std::size_t run_batch(bytes input) = 0;
  virtual std::size_t run_overload(bytes) { return 0; }
  /// [loop] Answers urgent messages; returns what is left for the handler.
  virtual bytes run_sift(bytes arrived, bool /*at_end*/, urgent_findings&) { return arrived; }
  virtual connection_class run_classify(bytes) { return connection_class::ordinary; }
  virtual void run_writable() = 0;
  virtual void run_read_eof() {}
  virtual void run_drain() {}
  virtual void run_close(error_code why) noexcept = 0;
  /// [loop] The last call.
  virtual void destroy() noexcept = 0;
  /// [loop, baton] For a connection that migrates: makes another object for that loop, with the handler, which touches
  /// nothing of its loop before it is attached there. Nothing when that cannot be had now.
  virtual connection_core* make_migrated(event_loop&) noexcept { return nullptr; }
  /// [loop] The last call for one whose connection has migrated.
  virtual void discard() noexcept {}
  [[nodiscard]] virtual const std::type_info& handler_type() const noexcept = 0;
  /// [loop] The loop stops while the baton is out: cancels what the holder waits for.
  virtual void interrupt() noexcept {}

 protected:
  using connection_context::connection_context;
  ~session_interface() = default;
};

}  // namespace quintet::detail
