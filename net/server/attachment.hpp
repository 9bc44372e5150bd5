// SPDX-License-Identifier: BSL-1.0
// attachment: the interface for making a connection from a handle that the program has connected.
#pragma once

#include "../../base/error.hpp"
#include "../connection/session_owner.hpp"

namespace quintet::detail {

/// Holds the handler of a connection to be attached, and the function that is called if attaching fails.
class attachment {
 public:
  virtual ~attachment() = default;
  /// [loop] Makes the session and moves the handler into it. May throw.
  virtual session_owner::session_ptr make(session_owner& owner, event_loop& on, connection_host& host) = 0;
  /// [loop] Called when the connection cannot be attached. Must not throw.
  virtual void refuse(error_code why) noexcept = 0;
};

}  // namespace quintet::detail
