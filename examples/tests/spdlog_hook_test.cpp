// SPDX-License-Identifier: BSL-1.0
// spdlog_hook_test: severities and texts arrive in spdlog, and events below the logger's level are not formatted.
// ctest: OPTIONAL_LIBS spdlog::spdlog
#include "common/spdlog_hook.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <sstream>
#include <string>

#include <spdlog/sinks/ostream_sink.h>

using namespace quintet;

BOOST_AUTO_TEST_CASE(events_become_lines_of_the_logger) {
  std::ostringstream out;
  const auto logger =
      std::make_shared<spdlog::logger>("quintet", std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  logger->set_pattern("%l %v");
  logger->set_level(spdlog::level::debug);
  const log_hook hook = example::spdlog_hook(logger);
  report(hook, {severity::debug, "a {} that is no format", {}, {}});
  report(hook, {severity::info, "listens", {}, "[::]:7007"});
  report(hook, {severity::warning, "refused", errc::too_many_threads, "127.0.0.1:4242"});
  report(hook, {severity::error, "cannot accept", errc::stopped, {}});
  logger->set_level(spdlog::level::warn);
  report(hook, {severity::info, "not wanted any more", {}, {}});
  BOOST_TEST(out.str() ==
             "debug a {} that is no format\n"
             "info [::]:7007: listens\n"
             "warning 127.0.0.1:4242: refused: all max_threads threads already serve a connection\n"
             "error cannot accept: the server, client or event loop was stopped\n");
}
