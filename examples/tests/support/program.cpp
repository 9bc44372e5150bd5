// SPDX-License-Identifier: BSL-1.0
// program: starts a process with posix_spawn, reads its output from a pipe, and its memory from /proc.
#include "program.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace example::test {
namespace {

std::string read_line(int fd) {
  std::string line;
  for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace

program::program(const std::string& name, std::vector<std::string> options) {
  std::string path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  options.insert(options.begin(), {path, "--port", "0"});
  std::vector<char*> argv;
  for (std::string& o : options) argv.push_back(o.data());
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  output_ = quintet::file_descriptor(ends[0]);
  quintet::file_descriptor its(ends[1]);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, its.get(), STDOUT_FILENO);
  const int failed = ::posix_spawn(&pid_, path.c_str(), &actions, nullptr, argv.data(), ::environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error(path + " cannot be started; is it built?");
  its.reset();
  const std::string line = read_line(output_.get());
  const auto colon = line.rfind(':');
  if (colon == std::string::npos) throw std::runtime_error(path + " has announced '" + line + "'");
  port_ = static_cast<std::uint16_t>(std::stoul(line.substr(colon + 1)));
}

program::~program() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  (void)wait();
}

void program::signal(int number) const noexcept { (void)::kill(pid_, number); }

int program::wait() {
  int status = 0;
  if (::waitpid(std::exchange(pid_, -1), &status, 0) < 0 || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

std::size_t program::peak_kib() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6));
  throw std::runtime_error("no VmHWM");
}

}  // namespace example::test
