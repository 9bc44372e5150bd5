// SPDX-License-Identifier: BSL-1.0
// idle_cpus_test: which CPUs are chosen, from the data that the kernel reports.
#include "client.hpp"
#include "running.hpp"

#include <quintet/threadmodels/placement/idle_cpus.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/unit_test.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace quintet::detail {
namespace {

using cpus = std::vector<int>;
using facts = std::vector<cpu_facts>;

#define CHECK_CPUS(actual, ...) BOOST_TEST((actual) == (cpus __VA_ARGS__), boost::test_tools::per_element())

BOOST_AUTO_TEST_CASE(the_idlest_first) {
  const facts all{{.number = 0, .core = 0, .busy = 0.9},
                  {.number = 1, .core = 1, .busy = 0.1},
                  {.number = 2, .core = 2, .busy = 0.5}};
  CHECK_CPUS(choose_cpus(all, 2), {1, 2});
  CHECK_CPUS(choose_cpus(all, 3), {1, 2, 0});
  CHECK_CPUS(choose_cpus(all, 9), {1, 2, 0});
  BOOST_TEST(choose_cpus({}, 2).empty());
}

BOOST_AUTO_TEST_CASE(of_equals_the_first) {
  const facts all{{.number = 3, .core = 3}, {.number = 1, .core = 1}, {.number = 2, .core = 2}};
  CHECK_CPUS(choose_cpus(all, 2), {1, 2});
}

// The second CPU of a core is as good as busy when the first one works.
BOOST_AUTO_TEST_CASE(each_core_once_before_any_twice) {
  const facts all{{.number = 0, .core = 0, .busy = 0.0},
                  {.number = 1, .core = 1, .busy = 0.3},
                  {.number = 2, .core = 0, .busy = 0.0},
                  {.number = 3, .core = 1, .busy = 0.4}};
  CHECK_CPUS(choose_cpus(all, 2), {0, 1});
  CHECK_CPUS(choose_cpus(all, 3), {0, 1, 2});
}

BOOST_AUTO_TEST_CASE(one_node_where_one_has_enough) {
  const facts all{{.number = 0, .node = 0, .core = 0, .busy = 0.0},
                  {.number = 1, .node = 0, .core = 1, .busy = 0.8},
                  {.number = 2, .node = 1, .core = 2, .busy = 0.1},
                  {.number = 3, .node = 1, .core = 3, .busy = 0.1},
                  {.number = 4, .node = 2, .core = 4, .busy = 0.0}};
  CHECK_CPUS(choose_cpus(all, 1), {0});
  CHECK_CPUS(choose_cpus(all, 2), {2, 3});
  CHECK_CPUS(choose_cpus(all, 3), {0, 4, 2});  // no node has enough
}

BOOST_AUTO_TEST_CASE(what_proc_stat_says) {
  const std::string stat =
      "cpu  10 0 10 100 0 0 0 0 0 0\n"
      "cpu0 4 1 3 50 2 1 1 1 9 9\n"
      "cpu11 6 0 4 30 0 0 0 0 0 0\n"
      "intr 12345 0\n";
  const auto ticks = ticks_of(stat, {11, 0, 7});
  BOOST_TEST(ticks[0].busy == 10);
  BOOST_TEST(ticks[0].all == 40);
  BOOST_TEST(ticks[1].busy == 11);  // without idle and iowait; guest time is included in user
  BOOST_TEST(ticks[1].all == 63);
  BOOST_TEST(ticks[2].all == 0);
}

BOOST_AUTO_TEST_CASE(lists_of_cpus) {
  CHECK_CPUS(parse_cpu_list("0-2,8\n"), {0, 1, 2, 8});
  CHECK_CPUS(parse_cpu_list("5"), {5});
  BOOST_TEST(parse_cpu_list("").empty());
  BOOST_TEST(parse_cpu_list("\n").empty());
  CHECK_CPUS(parse_cpu_list("3-1,5000-2147483647,7"), {7});
}

struct made_up_system {
  made_up_system() { std::filesystem::create_directories(root); }
  ~made_up_system() { std::filesystem::remove_all(root); }
  void file(const std::string& name, const std::string& text) const {
    const auto path = root / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("quintet-idle-cpus-" + std::to_string(::getpid()));
};

BOOST_AUTO_TEST_CASE(nodes_and_cores) {
  const made_up_system system;
  for (const int cpu : {0, 1, 2, 3})
    system.file("cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", cpu % 2 == 0 ? "0,2\n" : "1,3\n");
  system.file("node/node0/cpulist", "0,2\n");
  system.file("node/node1/cpulist", "1,3\n");
  system.file("node/online", "0-1\n");
  facts all{{.number = 3}, {.number = 2}};
  read_topology(all, system.root);
  BOOST_TEST(all[0].node == 1);
  BOOST_TEST(all[0].core == 1);
  BOOST_TEST(all[1].node == 0);
  BOOST_TEST(all[1].core == 0);
}

// A container may hide the topology.
BOOST_AUTO_TEST_CASE(a_system_that_does_not_tell) {
  facts all{{.number = 3}, {.number = 2}};
  read_topology(all, "/nowhere");
  BOOST_TEST(all[0].core == 3);
  BOOST_TEST(all[0].node == 0);
}

BOOST_AUTO_TEST_CASE(this_machine) {
  const cpus chosen = idlest_cpus({0}, 2, std::chrono::milliseconds(1));
  CHECK_CPUS(chosen, {0});
}

/// Answers with the CPUs that its thread may use.
struct cpu_teller {
  void operator()(connection& c, bytes) const {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    ::sched_getaffinity(0, sizeof mine, &mine);
    std::string all;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(static_cast<unsigned>(cpu), &mine)) all += std::to_string(cpu) + " ";
    c.write(all + "\n");
  }
};

BOOST_AUTO_TEST_CASE(loops_stay_on_them) {
  std::string told;  // written by the thread that runs the server
  test::running<server> srv(config{.listen = {"127.0.0.1:0"},
                                   .threads = {.loops = 2},
                                   .log = [&told](const log_event& e) { told += std::string(e.what) + "\n"; },
                                   .placement = {.idle_cpus = true}},
                            cpu_teller());
  cpus promised, found;
  for (int i = 0; i < 2; ++i) {
    promised.push_back(srv->loops()[static_cast<std::size_t>(i)]->options().cpu);
    test::client c(srv->port());
    c.send("?");
    found.push_back(std::stoi(c.receive_line()));
  }
  BOOST_TEST(promised == found, boost::test_tools::per_element());
  BOOST_TEST(std::ranges::min(promised) >= 0);
  srv.stop();
  srv.join();
  BOOST_TEST(told.find("loops are pinned to CPUs " + std::to_string(promised[0]) + ", " +
                       std::to_string(promised[1])) != std::string::npos);
}

}  // namespace
}  // namespace quintet::detail
