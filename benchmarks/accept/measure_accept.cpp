// SPDX-License-Identifier: BSL-1.0
// measure_accept.cpp: a loaded run. In the counting pass a
// quiet run, so that every connection finds all threads asleep.
#include "accept/measure_accept.hpp"

#include <algorithm>

#include "accept/accept_trace.hpp"
#include "compare/child_process.hpp"
#include "compare/scratch_file.hpp"
#include "compare/strace_counter.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;
using arguments = std::vector<std::string>;

// Slow enough that the server sleeps between two connections, even under strace.
constexpr auto* quiet_rate = "200";

void count_wakes(run_result& result, const compare_settings& s, const child_process& server,
                 const std::string& address) {
  if (!strace_counter::obstacle().empty()) return;
  const strace_counter trace(server.pid(), accept_calls);
  child_process client("the client", {s.program, "load", address, "--workload", "short", "--rate", quiet_rate,
                                      "--duration", "1", "--warm-up", "0.1", "--pin", result.client_cpus});
  const auto deadline = child_process::clock::now() + 15s;
  while (client.read_line(deadline)) {
  }
  client.wait(deadline);
  const auto counts = count_accepting(trace.printed());
  if (counts.accepted > 0)
    result.accept_wakes_per_connection = static_cast<double>(counts.wakes) / static_cast<double>(counts.accepted);
}

void measure(const std::string& closing, run_result& result, const compare_settings& s, const planned_run& run,
             const placement& where) {
  const scratch_file counters("accept");
  auto command = server_command(s, run, result);
  if (!run.who.is_peer()) command.insert(command.end(), {"--pin-loops", "--json", counters.path()});
  child_process server("the server", command);
  const auto address = await_listening(server, result);
  load_server(result, s, run, where, server, address,
              {"--threads", std::to_string(where.client.size()), "--close", closing});
  if (run.counting()) count_wakes(result, s, server, address);
  server.stop();
  if (!run.who.is_peer()) take_accept_figures(result, counters.figures("the server"));
}

double number_at(const boost::json::object& from, const char* name) {
  const auto* value = from.if_contains(name);
  if (!value || !value->is_number()) throw run_error(std::string("the server has no counter ") + name);
  return value->to_number<double>();
}

}  // namespace

measure_function measure_accept(std::string closing) {
  return [closing = std::move(closing)](run_result& result, const compare_settings& s, const planned_run& run,
                                        const placement& where) { measure(closing, result, s, run, where); };
}

void take_accept_figures(run_result& into, const boost::json::object& counted) {
  const double accepted = number_at(counted, "accepted");
  if (accepted <= 0) throw run_error("the server has accepted no connection");
  // The main loop is not pinned, and the model distributes its connections.
  if (into.accept == contender().accept) return;
  into.accepted_locally = number_at(counted, "accepted_locally") / accepted;
  const auto* each = counted.if_contains("accepted_by_each");
  if (!each || !each->is_array() || each->get_array().empty())
    throw run_error("the server has no counters of its loops");
  double most = 0;
  for (const auto& loop : each->get_array()) most = std::max(most, loop.to_number<double>());
  into.accept_balance = most * static_cast<double>(each->get_array().size()) / accepted;
}

}  // namespace quintet::bench
