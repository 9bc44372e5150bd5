// SPDX-License-Identifier: BSL-1.0
// idle_cpus: reads load and topology of the CPUs from the kernel, and chooses.
#include "idle_cpus.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <thread>
#include <tuple>

#include <sched.h>

namespace quintet {
namespace detail {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

int number_in(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

struct choice {
  std::vector<int> cpus;
  double busy = 0;
};

choice choose_among(std::vector<cpu_facts> left, std::size_t count) {
  choice chosen;
  std::map<int, int> of_core;
  while (chosen.cpus.size() < count && !left.empty()) {
    const auto next = std::ranges::min_element(
        left, {}, [&](const cpu_facts& c) { return std::tuple(of_core[c.core], c.busy, c.number); });
    chosen.cpus.push_back(next->number);
    chosen.busy += next->busy;
    ++of_core[next->core];
    left.erase(next);
  }
  return chosen;
}

}  // namespace

std::vector<int> choose_cpus(const std::vector<cpu_facts>& all, std::size_t count) {
  std::map<int, std::vector<cpu_facts>> by_node;
  for (const cpu_facts& c : all) by_node[c.node].push_back(c);
  choice best;
  for (const auto& [node, cpus] : by_node) {
    if (cpus.size() < count) continue;
    choice here = choose_among(cpus, count);
    if (best.cpus.empty() || here.busy < best.busy) best = std::move(here);
  }
  return best.cpus.empty() ? choose_among(all, count).cpus : best.cpus;
}

std::vector<cpu_ticks> ticks_of(const std::string& stat, const std::vector<int>& cpus) {
  std::vector<cpu_ticks> ticks(cpus.size());
  std::istringstream in(stat);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
    const auto cpu = std::ranges::find(cpus, number_in(std::string_view(line).substr(3)));
    if (cpu == cpus.end()) continue;
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    cpu_ticks& of = ticks[static_cast<std::size_t>(cpu - cpus.begin())];
    double value = 0;
    // user, nice, system, idle, iowait, irq, softirq, steal; user and nice include guest time
    for (int field = 0; field < 8 && fields >> value; ++field) {
      of.all += value;
      if (field != 3 && field != 4) of.busy += value;
    }
  }
  return ticks;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), range.size() + 1));
    const int first = number_in(range);
    const std::size_t dash = range.find('-');
    // No thread can be bound to CPU_SETSIZE or above. The bound also keeps a wrong list from using up memory.
    const int last =
        std::min(dash == std::string_view::npos ? first : number_in(range.substr(dash + 1)), CPU_SETSIZE - 1);
    for (int cpu = first; cpu >= 0 && cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

void read_topology(std::vector<cpu_facts>& cpus, const std::string& system) {
  const auto cpu_of = [&](int number) { return std::ranges::find(cpus, number, &cpu_facts::number); };
  for (cpu_facts& c : cpus) {
    const auto siblings = text_of(system + "/cpu/cpu" + std::to_string(c.number) + "/topology/thread_siblings_list");
    const std::vector<int> of_core = parse_cpu_list(siblings);
    c.core = of_core.empty() ? c.number : of_core.front();
  }
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(system + "/node", none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("node")) continue;
    const int node = number_in(std::string_view(name).substr(4));
    for (const int cpu : parse_cpu_list(text_of(entry.path() / "cpulist")))
      if (const auto found = cpu_of(cpu); found != cpus.end()) found->node = node;
  }
}

}  // namespace detail

std::vector<int> idlest_cpus(const std::vector<int>& candidates, std::size_t count,
                             std::chrono::milliseconds looks_for) {
  const auto before = detail::ticks_of(detail::text_of("/proc/stat"), candidates);
  std::this_thread::sleep_for(looks_for);
  const auto after = detail::ticks_of(detail::text_of("/proc/stat"), candidates);
  std::vector<detail::cpu_facts> all;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double passed = after[i].all - before[i].all;
    all.push_back({.number = candidates[i], .busy = passed > 0 ? (after[i].busy - before[i].busy) / passed : 0});
  }
  detail::read_topology(all, "/sys/devices/system");
  return detail::choose_cpus(all, count);
}

}  // namespace quintet
