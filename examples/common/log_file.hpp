// SPDX-License-Identifier: BSL-1.0
// log_file: log events of a server, one line each, to a file or to standard error.
#pragma once

#include <quintet/base/log.hpp>

#include <string>

namespace example {

/// [before run] Opens a file to append to, and returns a hook that writes events of at least this severity to it. An
/// empty path means standard error. A line that cannot be written is lost, and nothing else. SIGHUP opens the file
/// again at once, because another program may have renamed it. Call it once: a process has one log. Throws config_error
/// if the file cannot be opened, also for a named pipe that no process reads.
[[nodiscard]] quintet::log_hook open_log(const std::string& path, quintet::severity least);

}  // namespace example
