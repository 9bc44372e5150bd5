// SPDX-License-Identifier: BSL-1.0
// scenario: registration, and comparison of transcripts.
// ctest: EACH_ENGINE
#include "scenario.hpp"

#include "../../../net/tests/support/end_reasons.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace quintet::test {
namespace {

constexpr std::size_t longest_verbatim = 200;

/// Scenarios that handlers of Asio's streams do not repeat, and why.
constexpr std::array not_for_asio{
    std::string_view("a_reply_above_max_output"),  // a write waits for room instead of failing
};

std::string described(std::string_view data) {
  if (data.size() <= longest_verbatim) return std::string(data);
  return std::to_string(data.size()) + " bytes, hash " + std::to_string(std::hash<std::string_view>()(data));
}

/// The first combination that runs sets the transcript that the others must repeat.
void compare_with_first(const std::string& scenario, const scenario_run& run) {
  static std::map<std::string, std::string> first;
  const auto [entry, is_first] = first.emplace(scenario, run.transcript());
  BOOST_TEST(!run.transcript().empty());
  BOOST_TEST(run.transcript() == entry->second,
             "the transcript differs from that of the first combination.\n--- here:\n"
                 << run.transcript() << "--- there:\n"
                 << entry->second);
}

void run_one(const std::string& scenario, scenario_body body, combination c) {
  scenario_run run(c);
  body(run);
  run.finish();
  compare_with_first(scenario, run);
}

}  // namespace

service_host& scenario_run::serve(const host_options& options) {
  return *hosts_.emplace_back(make_host(combination_, options));
}

void scenario_run::note(std::string_view what, std::string_view data) {
  transcript_.append(what).append(": ").append(described(data)).append("\n");
}

void scenario_run::note_rest(std::string_view who, client& c) {
  const std::string rest = c.receive_rest();
  if (!rest.empty()) note(std::string(who) + " got", rest);
  note(std::string(who) + " saw", to_string(c.ended()));
}

void scenario_run::finish() {
  if (std::exchange(finished_, true)) return;
  for (const auto& host : hosts_) {
    host->stop();
    host->join();
    for (const std::string& fault : host->seen().faults()) BOOST_ERROR("fault: " << fault);
    const server_statistics s = host->statistics();
    BOOST_TEST(host->seen().closed_count() == host->seen().opened_count());
    BOOST_TEST(s.closed == s.opened);
    BOOST_TEST(testing::sum_of_reasons(s) == s.closed);
    if (!counts_) continue;
    note("handlers opened", std::to_string(host->seen().opened_count()));
    note("handler errors", std::to_string(s.handler_errors));
  }
}

void check_reasons(const scenario_run& run, service_host& host, const std::vector<error_code>& expected) {
  BOOST_TEST(host.seen().await_closed(expected.size()));
  if (run.under().is_coroutine()) return;
  BOOST_TEST(host.seen().reasons() == expected, boost::test_tools::per_element());
}

scenario_registrar::scenario_registrar(std::string_view name, const char* file, std::size_t line, scenario_body body) {
  namespace ut = boost::unit_test;
  const std::string scenario(name);
  auto* of_scenario = new ut::test_suite(scenario, file, line);
  ut::framework::current_auto_test_suite().add(of_scenario);
  for (const model m : all_models) {
    auto* of_model = new ut::test_suite(std::string(quintet::to_string(m)), file, line);
    of_scenario->add(of_model);
    for (const flavour f : {flavour::callback, flavour::coroutine, flavour::asio}) {
      if (f == flavour::asio && std::ranges::count(not_for_asio, name) > 0) continue;
      of_model->add(ut::make_test_case([=] { run_one(scenario, body, {m, f}); }, to_string(f), file, line));
    }
  }
}

}  // namespace quintet::test
