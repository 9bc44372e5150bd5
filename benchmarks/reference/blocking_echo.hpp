// SPDX-License-Identifier: BSL-1.0
// blocking_echo.hpp: a hand-written echo server with a blocking thread for each connection.
#pragma once

#include "unique_fd.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>

namespace quintet::bench {

class blocking_echo {
 public:
  blocking_echo(const std::string& address, std::uint16_t port);
  void run();
  void stop() noexcept;  ///< [any thread, signal handlers]
  std::uint16_t port() const;

 private:
  void start_thread(unique_fd fd);
  void serve(unique_fd fd);
  void end_all();

  unique_fd listening_;
  unique_fd stop_;  ///< an eventfd
  std::mutex mutex_;
  std::condition_variable all_gone_;
  std::unordered_set<int> open_;  ///< guarded by mutex_; a thread for each
};

}  // namespace quintet::bench
