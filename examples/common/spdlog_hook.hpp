// SPDX-License-Identifier: BSL-1.0
// spdlog_hook: passes the library's log events to a logger of spdlog.
#pragma once

#include <quintet/base/log.hpp>

#include <memory>
#include <utility>

#include <spdlog/spdlog.h>

namespace quintet::example {

inline spdlog::level::level_enum to_spdlog(severity s) noexcept {
  switch (s) {
    case severity::debug:
      return spdlog::level::debug;
    case severity::info:
      return spdlog::level::info;
    case severity::warning:
      return spdlog::level::warn;
    case severity::error:
      break;
  }
  return spdlog::level::err;
}

/// Returns a log hook. Several threads call it, so the logger must use spdlog's sinks that end in _mt.
inline log_hook spdlog_hook(std::shared_ptr<spdlog::logger> logger) {
  return [logger = std::move(logger)](const log_event& event) {
    const auto level = to_spdlog(event.level);
    if (logger->should_log(level)) logger->log(level, "{}", to_string(event));
  };
}

}  // namespace quintet::example
