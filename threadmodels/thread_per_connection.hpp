// SPDX-License-Identifier: BSL-1.0
// thread_per_connection: model 1: a thread for each connection, which blocks in recv and send and runs the handler.
#pragma once

#include <quintet/threadmodels/composed_model.hpp>

namespace quintet {

class thread_per_connection : public composed_model<on_own_loop, run_inline> {
 public:
  explicit thread_per_connection(std::size_t max_threads = 4096, const loop_options& options = {})
      : composed_model(on_own_loop(max_threads, options)) {}
};

}  // namespace quintet
