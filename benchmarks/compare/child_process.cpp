// SPDX-License-Identifier: BSL-1.0
// child_process.cpp: starting, reading and stopping a program.
#include "compare/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include "compare/interruption.hpp"

extern char** environ;

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

// Owns posix_spawn's two objects.
struct spawn_rules {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  spawn_rules(int out, int err) {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  }
  spawn_rules(const spawn_rules&) = delete;
  spawn_rules& operator=(const spawn_rules&) = delete;
  ~spawn_rules() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
};

void check_interruption() {
  if (interruption_guard::happened()) throw interrupted();
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path ? path : "/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    directory.append("/").append(name);
    if (::access(directory.c_str(), X_OK) == 0) return directory;
  }
  return std::nullopt;
}

child_process::child_process(std::string name, const std::vector<std::string>& arguments) : name_(std::move(name)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw run_error(fmt::format("cannot start {}: {}", name_, std::strerror(errno)));
  out_ = unique_fd(ends[0]);
  const unique_fd write_end(ends[1]);
  err_ = unique_fd(::memfd_create("stderr", MFD_CLOEXEC));
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const spawn_rules rules(write_end.get(), err_.get());
  const int error = ::posix_spawn(&pid_, argv[0], &rules.files, &rules.attributes, argv.data(), environ);
  if (error != 0) {
    pid_ = -1;
    throw run_error(fmt::format("cannot start {} ({}): {}", name_, arguments[0], std::strerror(error)));
  }
}

child_process::~child_process() { stop(); }

std::optional<std::string> child_process::read_line(clock::time_point deadline) {
  while (true) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      auto line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    check_interruption();
    if (clock::now() >= deadline) throw run_error(fmt::format("{} did not answer in time", name_));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    pollfd ready{out_.get(), POLLIN, 0};
    // At most 100 ms: a signal may arrive between the check above and the wait.
    const auto patience = std::clamp<std::int64_t>(left.count(), 0, 100);
    if (::poll(&ready, 1, static_cast<int>(patience)) <= 0) continue;
    char chunk[4096];
    const auto got = ::read(out_.get(), chunk, sizeof chunk);
    if (got == 0) return std::nullopt;
    if (got > 0) buffer_.append(chunk, static_cast<std::size_t>(got));
  }
}

std::string child_process::await_line(std::string_view prefix, clock::time_point deadline) {
  while (auto line = read_line(deadline)) {
    if (line->starts_with(prefix)) return line->substr(prefix.size());
  }
  wait(deadline);
  throw run_error(fmt::format("{} {}", name_, ending()));
}

std::optional<int> child_process::poll_status() {
  int status = 0;
  if (!status_ && pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

int child_process::wait(clock::time_point deadline) {
  while (!poll_status()) {
    check_interruption();
    if (clock::now() >= deadline) throw run_error(fmt::format("{} did not end in time", name_));
    std::this_thread::sleep_for(1ms);
  }
  return *status_;
}

void child_process::stop() {
  if (pid_ <= 0 || poll_status()) return;
  ::kill(pid_, SIGTERM);
  const auto patience = clock::now() + 2s;
  while (!poll_status()) {
    if (clock::now() >= patience) ::kill(pid_, SIGKILL);
    std::this_thread::sleep_for(1ms);
  }
}

std::string child_process::ending() {
  const auto status = poll_status();
  std::string how = "is still running";
  if (status && WIFEXITED(*status)) how = fmt::format("ended with status {}", WEXITSTATUS(*status));
  if (status && WIFSIGNALED(*status)) how = fmt::format("was killed by signal {}", WTERMSIG(*status));
  const auto complaint = last_complaint();
  return complaint.empty() ? how : how + ": " + complaint;
}

std::string child_process::complaints() const {
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(err_.get(), 0, SEEK_END))), '\0');
  const auto got = ::pread(err_.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::string child_process::last_complaint() const {
  const auto text = complaints();
  std::string_view all(text);
  while (!all.empty() && (all.back() == '\n' || all.back() == ' ')) all.remove_suffix(1);
  if (const auto start = all.rfind('\n'); start != all.npos) all.remove_prefix(start + 1);
  return std::string(all);
}

}  // namespace quintet::bench
