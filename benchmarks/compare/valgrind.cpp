// SPDX-License-Identifier: BSL-1.0
// valgrind.cpp: a server under one of valgrind's tools, and a client with a fixed number of requests.
#include "compare/valgrind.hpp"

#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "compare/child_process.hpp"
#include "compare/interruption.hpp"
#include "compare/scratch_file.hpp"
#include "load/blocking_io.hpp"
#include "load/connect.hpp"
#include "options.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;
using clock = child_process::clock;

constexpr auto patience = 60s;  // a server is some fifty times slower under valgrind
constexpr std::uint64_t requests_of_a_run = 4000;

// Pins this process and its children to one CPU, with SCHED_RR where that is permitted: a thread keeps the CPU until it
// waits or its time slice ends. Without SCHED_RR the counts are similar but do not repeat exactly.
class strict_turns {
 public:
  strict_turns() {
    ::sched_getaffinity(0, sizeof cpus_, &cpus_);
    pin_thread({cpu_under_valgrind()});
    const sched_param lowest{.sched_priority = 1};
    ::sched_setscheduler(0, SCHED_RR, &lowest);
  }
  ~strict_turns() {
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_OTHER, &none);
    ::sched_setaffinity(0, sizeof cpus_, &cpus_);
  }
  strict_turns(const strict_turns&) = delete;
  strict_turns& operator=(const strict_turns&) = delete;

 private:
  cpu_set_t cpus_{};
};

void send_all(const unique_fd& fd, std::string_view data) {
  if (!send_whole(fd, data)) throw run_error("the server accepted no more requests");
}

void receive(const unique_fd& fd, std::string& into) {
  if (receive_whole(fd, into) != into.size()) throw run_error("a request was not answered");
}

// Every connection sends before any of them reads.
void converse(const endpoint& server, const workload& work, std::uint64_t turns) {
  const auto where = resolve(server);
  std::vector<unique_fd> connections;
  for (unsigned i = 0; i < work.connections; ++i) {
    connections.push_back(connect_blocking(where, static_cast<int>(std::chrono::milliseconds(patience).count())));
    if (!connections.back()) throw run_error("the server did not accept the connection");
  }
  const std::string requests(work.message_bytes * work.pipeline, 'q');
  std::string replies(requests.size(), '\0');
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    if (interruption_guard::happened()) throw interrupted();
    for (const auto& fd : connections) send_all(fd, requests);
    for (const auto& fd : connections) receive(fd, replies);
    if (replies != requests) throw run_error("a reply was wrong");
  }
}

}  // namespace

std::string valgrind_obstacle() {
  return find_program("valgrind") ? "" : "valgrind is not installed; apt-get install valgrind";
}

unsigned cpu_under_valgrind() { return allowed_cpus().back(); }

bounded_load bounded_load_of(const workload& work) {
  const std::uint64_t per_turn = std::uint64_t{work.connections} * work.pipeline;
  const std::uint64_t turns = std::max<std::uint64_t>(20, requests_of_a_run / per_turn);
  return {turns, 3 * turns, per_turn};
}

std::string log_under_valgrind(const std::vector<std::string>& tool, const std::vector<std::string>& server_command,
                               const workload& work, std::uint64_t turns) {
  const strict_turns turns_taken;
  const scratch_file log("valgrind");
  std::vector<std::string> command{find_program("valgrind").value_or(""), "--fair-sched=yes",
                                   "--log-file=" + log.path()};
  command.insert(command.end(), tool.begin(), tool.end());
  command.insert(command.end(), server_command.begin(), server_command.end());
  child_process server("the server", command);
  const auto address = server.await_line("listening on ", clock::now() + patience);
  converse(parse_endpoint(address), work, turns);
  ::kill(server.pid(), SIGTERM);
  if (server.wait(clock::now() + patience) != 0) throw run_error("the server " + server.ending());
  return log.text();
}

}  // namespace quintet::bench
