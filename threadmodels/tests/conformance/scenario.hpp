// SPDX-License-Identifier: BSL-1.0
// scenario: a client script that runs against all fifteen combinations, which must produce the same transcript.
#pragma once

#include "service_host.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::test {

/// One scenario under one combination: its servers, and the transcript.
class scenario_run {
 public:
  explicit scenario_run(combination c) : combination_(c) {}

  [[nodiscard]] combination under() const { return combination_; }
  /// Starts a server of the combination under test. It lives as long as the run.
  service_host& serve(const host_options& options = {});

  /// Adds data to the transcript. Long data is written as its length and a hash.
  void note(std::string_view what, std::string_view data = {});
  /// Adds how the stream has ended, and the bytes before its end.
  void note_rest(std::string_view who, client& c);
  /// Leaves the counts of connections out of the transcript, because they depend on timing.
  void leave_out_counts() { counts_ = false; }
  /// Stops all servers and adds what their handlers have seen. Fails if they have seen a fault.
  void finish();
  [[nodiscard]] const std::string& transcript() const { return transcript_; }

 private:
  combination combination_;
  std::vector<std::unique_ptr<service_host>> hosts_;
  std::string transcript_;
  bool counts_ = true;
  bool finished_ = false;
};

/// Waits until `count` connections have closed, and checks why. Coroutines do not learn the reason, so it checks
/// callbacks only.
void check_reasons(const scenario_run& run, service_host& host, const std::vector<error_code>& expected);

using scenario_body = void (*)(scenario_run&);

/// Registers a test case `<scenario>/<model>/<flavour>` for each combination.
class scenario_registrar {
 public:
  scenario_registrar(std::string_view name, const char* file, std::size_t line, scenario_body body);
};

}  // namespace quintet::test

/// QUINTET_SCENARIO(name) { ... uses `run` ... }
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define QUINTET_SCENARIO(name)                                                                                    \
  static void name(::quintet::test::scenario_run& run);                                                           \
  static const ::quintet::test::scenario_registrar name##_registrar(#name, __FILE__, __LINE__, &name); /*NOLINT*/ \
  static void name(::quintet::test::scenario_run& run)
