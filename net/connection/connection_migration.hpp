// SPDX-License-Identifier: BSL-1.0
// connection_migration: moves a connection to another loop, where a new object takes over its state.
#pragma once

#include "../../base/work/work_item.hpp"

namespace quintet {

class event_loop;

}  // namespace quintet

namespace quintet::detail {

class connection_core;

/// The handler, or its classify(), names a target loop. The connection migrates once each of its parts is quiescent.
/// Its id, its handler and its input go with it.
class connection_migration {
 public:
  /// [baton] Requests a migration. Returns false if the connection, its engine or its loop cannot migrate.
  static bool request(connection_core& c, event_loop& to);
  /// [loop, baton] Takes over the handler's request.
  static void take_over_request(connection_core& c) noexcept;
  /// [loop] Returns whether another loop is to take over the connection.
  [[nodiscard]] static bool is_wanted(const connection_core& c) noexcept;
  /// [loop, baton] Returns whether nothing keeps the connection here: each part is quiescent.
  [[nodiscard]] static bool is_possible(const connection_core& c) noexcept;
  /// [loop, baton] Migrates; is_possible() must hold. If the connection stays all the same, it loses its target, or
  /// tries again at its next event.
  static void run(connection_core& c) noexcept;

  static constexpr std::size_t most_to_classify = 4096;  ///< bytes; from here on it is an ordinary connection
  /// [loop, baton] Asks the handler for the connection's class, by input that it has not seen. Returns false if the
  /// input must not be delivered now.
  static bool classify(connection_core& c) noexcept;

 private:
  static void move_unseen(connection_core& c, event_loop* to) noexcept;
  static void attach(work_item& item) noexcept;
  static void destroy_predecessor(work_item& item) noexcept;
};

}  // namespace quintet::detail
