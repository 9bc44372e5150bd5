// SPDX-License-Identifier: BSL-1.0
// blocking_echo.hpp: a hand-written echo server with a blocking thread for each connection.
#pragma once

#include "peers/peer_server.hpp"

#include <condition_variable>
#include <mutex>
#include <unordered_set>

namespace quintet::bench {

class blocking_echo final : public listening_peer {
 public:
  using listening_peer::listening_peer;
  void run() override;

 private:
  void start_thread(unique_fd fd);
  void serve(unique_fd fd);
  void end_all();

  std::mutex mutex_;
  std::condition_variable all_gone_;
  std::unordered_set<int> open_;  ///< guarded by mutex_; a thread for each
};

}  // namespace quintet::bench
