// SPDX-License-Identifier: BSL-1.0
// log_file: writes a line of time, severity and text.
#include "log_file.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace example {
namespace {

// For the signal handler. They are set before it is installed, and the descriptor stays open until the process ends.
constinit const char* path_of_handler = nullptr;
constinit int log_descriptor = STDERR_FILENO;

// O_NONBLOCK: a pipe must not stop the server, neither at its start, without a reader, nor later, when it is full.
int open_to_append(const char* path) noexcept {
  return ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
}

// Puts a fresh file behind the same descriptor, by calls that a signal handler may make. Without a fresh file, the old
// one stays in use.
extern "C" void quintet_example_on_hangup(int) {
  const int before = errno;
  if (const int fresh = open_to_append(path_of_handler); fresh >= 0) {
    (void)::dup3(fresh, log_descriptor, O_CLOEXEC);
    (void)::close(fresh);
  }
  errno = before;
}

void open_again_on_hangup() {
  struct sigaction action{};
  action.sa_handler = &quintet_example_on_hangup;
  action.sa_flags = SA_RESTART;
  (void)::sigaction(SIGHUP, &action, nullptr);
}

// One call for each line, so that the lines of several threads, and of several processes, do not mix.
void write_line(const quintet::log_event& event) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> when{};
  (void)std::strftime(when.data(), when.size(), "%FT%TZ", ::gmtime_r(&now, &parts));
  const std::string line =
      std::string(when.data()) + " " + std::string(to_string(event.level)) + " " + to_string(event) + "\n";
  (void)!::write(log_descriptor, line.data(), line.size());
}

}  // namespace

quintet::log_hook open_log(const std::string& path, quintet::severity least) {
  if (!path.empty()) {
    const int opened = open_to_append(path.c_str());
    if (opened < 0)
      throw quintet::config_error(
          "--log: " + path + ": " +
          (errno == ENXIO ? "it is a pipe or a socket that no process reads" : std::strerror(errno)));
    log_descriptor = opened;
    static const std::string kept = path;
    path_of_handler = kept.c_str();
    open_again_on_hangup();
  }
  return [least](const quintet::log_event& e) {
    if (e.level >= least) write_line(e);
  };
}

}  // namespace example
