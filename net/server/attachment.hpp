// SPDX-License-Identifier: BSL-1.0
// attachment: what a server needs to make a connection of a handle that its program has connected.
#pragma once

#include "../../base/error.hpp"
#include "../connection/session_owner.hpp"

namespace quintet::detail {

/// The handler of a connection that is to be attached, and the function that is told when it cannot be.
class attachment {
 public:
  virtual ~attachment() = default;
  /// [loop] Makes the session, which takes the handler. May throw.
  virtual session_owner::session_ptr make(session_owner& owner, event_loop& on, connection_host& host) = 0;
  /// [loop] The connection cannot be attached. Must not throw.
  virtual void refuse(error_code why) noexcept = 0;
};

}  // namespace quintet::detail
