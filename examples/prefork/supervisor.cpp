// SPDX-License-Identifier: BSL-1.0
// supervisor: fork(), signals that are waited for instead of handled, and children that end with their parent.
#include "prefork/supervisor.hpp"

#include <quintet/net/file_descriptor.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace prefork {
namespace {

constexpr std::chrono::seconds pause_between_starts{1};  // of the same child

[[noreturn]] void fail(const char* what) {
  throw boost::system::system_error(errno, boost::system::system_category(), what);
}

std::string ending(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

bool is_handled(int signal) {
  struct sigaction now{};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_DFL;
}

/// Runs the handler of a signal that is blocked and was waited for.
void handle(int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  (void)::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::sigprocmask(SIG_BLOCK, &only, nullptr);
}

void tell_running(pid_t pid) { tell("process " + std::to_string(pid) + " runs"); }

}  // namespace

void tell(const std::string& event) {
  std::puts(("prefork: " + event).c_str());
  std::fflush(stdout);
}

supervisor::~supervisor() {
  for (const child& c : children_) {
    if (c.pid == 0) continue;
    ::kill(c.pid, SIGKILL);
    ::waitpid(c.pid, nullptr, 0);
  }
}

// A child writes a byte when it is ready, and closes its end of the pipe then or when it ends.
bool supervisor::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("cannot make a pipe");
  const quintet::file_descriptor read_end(ends[0]);
  quintet::file_descriptor write_end(ends[1]);
  for (child& c : children_) fork_child(c, write_end.get());
  write_end.reset();
  std::size_t ready = 0;
  for (char byte = 0; ::read(read_end.get(), &byte, 1) == 1;) ++ready;
  return ready == children_.size();
}

int supervisor::run() {
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&awaited, signal);
  if (is_handled(SIGHUP)) sigaddset(&awaited, SIGHUP);  // there is a log: each process has opened it
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  for (const child& c : children_) tell_running(c.pid);
  for (;;) {
    reap();
    if (stopping_ && running() == 0) return failed_ ? 1 : 0;
    if (!stopping_) replace_ended();
    const int signal = await_signal(awaited);
    if (signal == SIGINT || signal == SIGTERM) stop();
    if (signal == SIGHUP) {
      handle(SIGHUP);
      send_to_all(SIGHUP);
    }
  }
}

void supervisor::fork_child(child& c, int ready_end) {
  c.began = clock::now();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail("cannot start a process");
  if (pid == 0) be_child(parent, ready_end);
  c.pid = pid;
}

void supervisor::be_child(pid_t parent, int ready_end) const {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // In a process group of its own, Ctrl-C does not reach the child; the parent sends its signal once.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) std::exit(0);  // the parent ended before prctl()
  std::exit(call_([ready_end] {
    if (ready_end < 0) return;
    (void)!::write(ready_end, "", 1);
    ::close(ready_end);
  }));
}

void supervisor::replace_ended() {
  for (child& c : children_) {
    if (c.pid != 0 || clock::now() - c.began < pause_between_starts) continue;
    try {
      fork_child(c, -1);
      tell_running(c.pid);
    } catch (const boost::system::system_error& e) {  // the next try follows after the pause
      tell(e.what());
    }
  }
}

void supervisor::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    failed_ |= stopping_ && status != 0;
    tell("process " + std::to_string(pid) + " " + ending(status));
    for (child& c : children_)
      if (c.pid == pid) c.pid = 0;
  }
}

// Waits for a signal, or until a child may start again. Returns -1 without a signal.
int supervisor::await_signal(const sigset_t& awaited) const {
  auto next = clock::time_point::max();
  for (const child& c : children_)
    if (c.pid == 0 && !stopping_) next = std::min(next, c.began + pause_between_starts);
  if (next == clock::time_point::max()) return ::sigwaitinfo(&awaited, nullptr);
  const std::chrono::nanoseconds left = std::max(next - clock::now(), clock::duration::zero());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  return ::sigtimedwait(&awaited, nullptr, &limit);
}

void supervisor::stop() {
  stopping_ = true;
  tell("stopping " + std::to_string(running()) + " processes");
  send_to_all(SIGTERM);
}

void supervisor::send_to_all(int signal) const {
  for (const child& c : children_)
    if (c.pid != 0) ::kill(c.pid, signal);
}

std::size_t supervisor::running() const {
  return static_cast<std::size_t>(std::ranges::count_if(children_, [](const child& c) { return c.pid != 0; }));
}

}  // namespace prefork
