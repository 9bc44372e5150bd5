// SPDX-License-Identifier: BSL-1.0
// connection_migration: how a connection goes over to another loop: another object there takes over all that it has.
#pragma once

#include "../../base/work/work_item.hpp"

namespace quintet {

class event_loop;

}  // namespace quintet

namespace quintet::detail {

class connection_core;

/// A target is named by the handler or by its classify(). The connection goes as soon as each of its parts is
/// quiescent. Its id, its handler and its input go with it.
struct connection_migration {
  /// [baton] False: the connection, its engine or its loop cannot.
  static bool request(connection_core& c, event_loop& to);
  /// [loop, baton] Takes over what the handler has requested.
  static void take_over_request(connection_core& c) noexcept;
  /// [loop, baton] Whether nothing keeps it here.
  [[nodiscard]] static bool is_possible(const connection_core& c) noexcept;
  /// [loop, baton] Where that is possible. If the connection stays all the same, it has no target any more, or tries
  /// again at its next event.
  static void run(connection_core& c) noexcept;

  static constexpr std::size_t most_to_classify = 4096;  ///< bytes; then it is an ordinary connection
  /// [loop, baton] Asks the handler for the connection's class, by input that it has not seen. False: the input is not
  /// to be delivered now.
  static bool classify(connection_core& c) noexcept;
  static void end_classifying(connection_core& c) noexcept;

 private:
  static void take_state(connection_core& to, connection_core& from) noexcept;
  static void attach(work_item& item) noexcept;
  static void destroy_predecessor(work_item& item) noexcept;
};

}  // namespace quintet::detail
