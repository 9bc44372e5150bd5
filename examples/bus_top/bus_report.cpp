// SPDX-License-Identifier: BSL-1.0
// bus_report: writes and reads the text.
#include "bus_report.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

namespace example {

std::string to_text(const quintet::bus_node& node, std::size_t ring_size) {
  std::ostringstream out;
  out << "process " << ::getpid() << "\nring_size " << ring_size << '\n';
  for (const auto& [peer, route] : node.routes()) out << "route " << peer << ' ' << quintet::to_string(route) << '\n';
  const quintet::bus_statistics s = node.statistics();
  quintet::bus_statistics::each(
      [&](const char* name, std::uint64_t value) { out << "counter " << name << ' ' << value << '\n'; }, s);
  return out.str();
}

bus_report bus_report_from(quintet::bytes text) {
  bus_report r;
  // The report goes to a terminal, which would obey control sequences.
  const auto is_plain = [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); };
  if (!std::ranges::all_of(text, is_plain)) throw std::runtime_error("the answer is not a report");
  std::istringstream in{std::string(text)};
  for (std::string kind, name; in >> kind;) {
    std::uint64_t peer = 0;
    if (kind == "process")
      in >> r.process;
    else if (kind == "ring_size")
      in >> r.ring_size;
    else if (kind == "route" && in >> peer)
      in >> r.routes[peer];
    else if (kind == "counter" && in >> name)
      in >> r.counters[name];
    else
      in.setstate(std::ios::failbit);
    if (!in) throw std::runtime_error("the answer is not a report");
  }
  return r;
}

}  // namespace example
