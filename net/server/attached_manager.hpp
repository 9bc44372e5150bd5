// SPDX-License-Identifier: BSL-1.0
// attached_manager: makes a server's connection from a stream that the program has connected.
#pragma once

#include "../connection/session_manager.hpp"
#include "server_core.hpp"

#include <memory>

namespace quintet::detail {

/// The manager of one attached session, which owns itself. Deletes itself when the session ends.
class attached_manager final : public session_manager {
 public:
  /// [any thread] See basic_server::attach().
  static void attach(server_core& server, event_loop* near, stream_handle&& stream, std::shared_ptr<attachment> what);

 private:
  /// `placed`: the model has placed the session; its place is released when the session ends.
  attached_manager(server_core& server, bool placed) noexcept;

  /// Returns an error if the session has not begun. May throw.
  static error_code try_begin(server_core& server, event_loop& on, bool placed, stream_handle&& stream,
                              attachment& what);
  static void begin(server_core& server, event_loop& on, bool placed, stream_handle stream, attachment& what) noexcept;
  static void place_by_model(server_core& server, stream_handle stream,
                             const std::shared_ptr<attachment>& what) noexcept;
  static void refuse(server_core& server, event_loop& on, stream_handle&& stream, error_code why,
                     attachment& what) noexcept;
  [[nodiscard]] bool runs_here(const event_loop& loop) const noexcept override;
  void retire(connection_core& ended, destroy_function destroy) noexcept override;

  server_core& server_;
  const bool placed_;
};

}  // namespace quintet::detail
