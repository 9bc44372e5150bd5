// SPDX-License-Identifier: BSL-1.0
// service: what all sessions share.
#pragma once

#include "store.hpp"
#include "users.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace postgres {

/// Of BackendKeyData and CancelRequest.
struct session_key {
  std::int32_t process = 0, secret = 0;
  auto operator<=>(const session_key&) const = default;
};

/// [any thread] The sessions that there are: not more than a limit.
class session_list {
 public:
  /// A session is in the list while it has its key. Any thread may call `cancel` meanwhile. Throws fatal_error 53300
  /// if there are `most` sessions.
  [[nodiscard]] std::shared_ptr<const session_key> add(std::size_t most, std::function<void()> cancel);
  /// Does nothing for a wrong key.
  void cancel(const session_key& key);

 private:
  void remove(const session_key& key);

  std::mutex mutex_;
  std::int32_t last_process_ = 0;
  std::map<session_key, std::function<void()>> all_;
};

/// All but the store and the sessions is set before the server runs.
struct service {
  std::size_t max_connections = 100;
  std::chrono::seconds login_timeout{60}, idle_timeout{0}, statement_timeout{0};  // zero: none
  postgres::users users;
  postgres::store store;
  session_list sessions;
};

}  // namespace postgres
