// SPDX-License-Identifier: BSL-1.0
// thread_options: how many threads a model has, and which batches go to its pool.
#pragma once

#include "offload.hpp"
#include "worker_limits.hpp"

#include <algorithm>
#include <cstddef>
#include <thread>

namespace quintet {

/// Each model takes what it needs. What only others use must still be valid.
struct thread_options {
  unsigned loops = std::max(1u, std::thread::hardware_concurrency());  ///< models 4 and 5: sub-reactors
  worker_limits workers = {};      ///< model 3: `max` threads; model 5: `min` to `max`
  offload_options offload = {};    ///< models 3 and 5: whether all batches go to these threads
  std::size_t max_threads = 4096;  ///< model 1: connections that may have a thread
};

/// [any thread] Throws config_error.
void validate(const thread_options& options);

}  // namespace quintet
