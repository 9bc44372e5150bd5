// SPDX-License-Identifier: BSL-1.0
// foreign_program.cpp: uses taskset and setpriv of util-linux, which every Debian has.
#include "peers/foreign_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "compare/child_process.hpp"
#include "options.hpp"
#include "peers/listen.hpp"

namespace quintet::bench {

std::vector<std::string> pinned(const std::string& cpus, const std::vector<std::string>& command) {
  const auto taskset = find_program("taskset"), setpriv = find_program("setpriv");
  if (!taskset || !setpriv)
    throw run_error("taskset and setpriv (package util-linux) are needed to place the programs");
  std::vector<std::string> out{*taskset, "-c", cpus, *setpriv, "--pdeathsig", "TERM"};
  out.insert(out.end(), command.begin(), command.end());
  return out;
}

std::string free_port() { return std::to_string(local_port(listen_on("127.0.0.1", 0, false))); }

std::string example_program(const std::string& name, const std::string& given) {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  auto out = given.empty() ? (here / "../examples" / name).lexically_normal().string() : given;
  if (::access(out.c_str(), X_OK) != 0)
    throw usage_error(
        fmt::format("{0}: {1} does not exist; build the target quintet-example-{0}, or name it with --{0}", name, out));
  return out;
}

}  // namespace quintet::bench
