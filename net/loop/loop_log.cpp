// SPDX-License-Identifier: BSL-1.0
// loop_log: logs exceptions.
#include "loop_log.hpp"

#include "event_loop.hpp"

#include <exception>
#include <new>
#include <string>

namespace quintet {

void detail::report_exception(const log_hook& log, std::string_view thrower, std::string_view address) noexcept try {
  if (!log) return;
  std::string what(thrower);
  try {
    throw;
  } catch (const std::exception& e) {
    what.append(" threw an exception: ").append(e.what());
  } catch (...) {
    what.append(" threw an exception that is not a std::exception");
  }
  report(log, {severity::warning, what, errc::handler_threw, address});
} catch (const std::bad_alloc&) {  // no memory left to log
}

void detail::note_exception(event_loop& loop) noexcept {
  loop.counters().handler_errors.add();
  loop_log* log = nullptr;
  try {
    log = &loop.use<loop_log>();
  } catch (const std::bad_alloc&) {  // it was not used yet, so it has no hook
  }
  if (log) log->report_exception();
}

void loop_log::report_exception() const noexcept {
  if (hook_) detail::report_exception(*hook_, "a function of a loop");
}

}  // namespace quintet
