// SPDX-License-Identifier: BSL-1.0
// running: runs a server on a thread of its own for as long as the object lives.
#pragma once

#include "../../../net/tests/support/end_reasons.hpp"

#include <quintet/net/loop/loop_thread.hpp>
#include <quintet/net/watch/thread_name.hpp>

#include <boost/test/unit_test.hpp>

#include <exception>
#include <thread>
#include <utility>

namespace quintet::test {

/// The name of the thread that calls run(); see census.hpp.
inline constexpr const char* run_thread_name = "test-run";

template <class Server>
class running {
 public:
  template <class... Args>
  explicit running(Args&&... args) : server_(std::forward<Args>(args)...) {
    begin();
  }
  ~running() {
    stop();
    if (thread_.joinable()) thread_.join();
    if constexpr (requires { server_.statistics(); })
      if (!testing::reasons_add_up(server_.statistics()))
        BOOST_ERROR("the reasons do not add up to the closed connections");
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;

  Server* operator->() noexcept { return &server_; }
  Server& operator*() noexcept { return server_; }
  void stop() noexcept { server_.stop(); }
  /// Waits for run() to return, and rethrows its exception.
  void join() {
    if (thread_.joinable()) thread_.join();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void begin() {
    thread_ = std::thread([this] {
      name_this_thread(run_thread_name);
      try {
        server_.run();
      } catch (...) {
        error_ = std::current_exception();
      }
    });
  }

  Server server_;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace quintet::test
