// SPDX-License-Identifier: BSL-1.0
// trouble: what happens to the server of a round from outside: failing system calls and allocations, other threads.
#pragma once

#include "plan.hpp"
#include "service.hpp"

#include <quintet/net/connection/connection_registry.hpp>

#include <atomic>
#include <thread>

namespace quintet::test::soak {

/// Makes system calls of the calling thread, and of threads that it starts, fail now and then while `faults_active` is
/// set. Cannot be undone.
void make_calls_fail(const plan& p);
inline std::atomic<bool> faults_active{false};
inline std::atomic<std::uint64_t> faults_injected{0}, completions_failed{0};

/// A thread that sends, posts and resumes through the registry; intruders also close and abort. Under shortage, it arms
/// failing allocations. Ends with the object.
class outsider {
 public:
  outsider(const plan& p, stage& on, connection_registry& registry);
  ~outsider();
  outsider(const outsider&) = delete;
  outsider& operator=(const outsider&) = delete;

 private:
  void run();
  void act(connection_id on);
  void resume_paused();

  const plan& plan_;
  stage& stage_;
  connection_registry& registry_;
  dice random_;
  std::uint32_t sent_ = 0;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace quintet::test::soak
