// SPDX-License-Identifier: BSL-1.0
// make_engine: makes an engine of a given kind, and reports why this kernel refuses one.
#pragma once

#include "../../base/error.hpp"
#include "../../base/log.hpp"
#include "../options/loop_options.hpp"
#include "engine.hpp"

#include <memory>

namespace quintet {

/// [any thread] Returns why this kernel refuses the engine, or no error. Asks the kernel once per process. Throws the
/// exceptions of validate().
[[nodiscard]] error_code refused_by_kernel(engine_kind kind);

/// [any thread] Makes the engine of one loop. If the kernel refuses io_uring, logs a warning and makes an epoll engine.
/// Throws config_error if `kind` is not compiled in, boost::system::system_error if descriptors or memory have run out.
[[nodiscard]] std::unique_ptr<engine> make_engine(engine_kind kind, const log_hook& log = {});

/// [any thread] Puts on an engine what the loop's options ask for: at the bottom shared memory, above it filters, whose
/// bytes may then travel over both. Throws std::bad_alloc.
[[nodiscard]] std::unique_ptr<engine> decorate(std::unique_ptr<engine> inner, const loop_tuning& asked);

/// [any thread] Makes the main loop's engine by `options.make_engine` if set, else of the kind `options.engine`.
template <class Options>
[[nodiscard]] std::unique_ptr<engine> make_main_engine(const Options& options) {
  return options.make_engine ? options.make_engine() : make_engine(options.engine, options.log);
}

}  // namespace quintet
