// SPDX-License-Identifier: BSL-1.0
// make_engine: makes an engine of a kind, and says why this kernel refuses one.
#pragma once

#include "../../base/error.hpp"
#include "../../base/log.hpp"
#include "../options/engine_kind.hpp"
#include "engine.hpp"

#include <memory>

namespace quintet {

/// [any thread] Why this kernel refuses the engine, or nothing if it does not. Asks the kernel once for each process.
/// Throws what validate() does.
[[nodiscard]] error_code refused_by_kernel(engine_kind kind);

/// [any thread] One for each loop. Where the kernel refuses io_uring, epoll takes its place and the log is told. Throws
/// config_error if it is not compiled in, and boost::system::system_error if descriptors or memory have run out.
[[nodiscard]] std::unique_ptr<engine> make_engine(engine_kind kind, const log_hook& log = {});

/// [any thread] The main loop's: the one that the options of a server or a client make themselves, or else name.
template <class Options>
[[nodiscard]] std::unique_ptr<engine> make_main_engine(const Options& options) {
  return options.make_engine ? options.make_engine() : make_engine(options.engine, options.log);
}

}  // namespace quintet
