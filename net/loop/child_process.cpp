// SPDX-License-Identifier: BSL-1.0
// child_process: posix_spawn, and a pidfd that becomes readable when the program ends.
#include "child_process.hpp"

#include "../engine/file_descriptor.hpp"

#include <boost/intrusive/list.hpp>

#include <cerrno>
#include <memory>
#include <utility>

#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char** environ;

namespace quintet {
namespace {

// By syscall: glibc before 2.36 has no function for it.
int pidfd_open(pid_t pid) noexcept { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }
int pidfd_send_signal(int pidfd, int signal) noexcept {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

// For Linux 5.3, whose waitid() does not know pidfds. Waits for the pidfd all the same: if the program was collected
// elsewhere, `pid` may belong to another child by now, which must not be waited for.
int collect_by_number(int pidfd, pid_t pid, siginfo_t& info) noexcept {
  pollfd end{pidfd, POLLIN, 0};
  while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG);
}

exit_status collect(int pidfd, pid_t pid) noexcept {
  siginfo_t info{};
  int result = 0;
  do result = ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED);
  while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EINVAL) result = collect_by_number(pidfd, pid, info);
  if (result != 0 || info.si_pid == 0) return {};
  return {info.si_code == CLD_EXITED ? exit_status::kind::exited : exit_status::kind::killed, info.si_status};
}

// Returns 0 or an errno value. Errors of exec are included.
int spawn(const std::vector<std::string>& program_and_arguments, pid_t& pid) {
  std::vector<char*> argv;
  for (const std::string& argument : program_and_arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  if (const int error = ::posix_spawnattr_init(&attributes)) return error;
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const int error = ::posix_spawnp(&pid, argv[0], nullptr, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

/// One program, from its start until its exit status has been collected.
class child_process::watcher final
    : public event_channel,
      public work_item,
      public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  watcher(child_process& owner, exit_function on_exit)
      : work_item([](work_item& self) noexcept { delete &static_cast<watcher&>(self); }),
        owner_(&owner),
        loop_(owner.loop_),
        on_exit_(std::move(on_exit)) {}
  ~watcher() { unwatch(); }
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  error_code watch(pid_t pid);
  void unwatch() noexcept {
    if (handle() >= 0) loop_.io().remove(*this);
    pidfd_.reset();
  }
  error_code send(int signal) noexcept {
    return pidfd_send_signal(pidfd_.get(), signal) == 0 ? error_code() : system_error_code(errno);
  }
  void end_now() noexcept {
    (void)send(SIGKILL);
    (void)collect(pidfd_.get(), pid_);
    if (owner_) owner_->watcher_ = nullptr;
  }
  exit_function disown() noexcept {
    owner_ = nullptr;
    return std::move(on_exit_);
  }

 private:
  void on_event() override;

  child_process* owner_;
  event_loop& loop_;
  exit_function on_exit_;
  file_descriptor pidfd_;
  pid_t pid_ = -1;
};

/// The loop's programs whose exit status has not been collected, with and without an owner.
struct child_process::uncollected_programs {
  explicit uncollected_programs(event_loop&) noexcept {}
  ~uncollected_programs();
  uncollected_programs(const uncollected_programs&) = delete;
  uncollected_programs& operator=(const uncollected_programs&) = delete;
  boost::intrusive::list<watcher, boost::intrusive::constant_time_size<false>> children;
};

child_process::uncollected_programs::~uncollected_programs() {
  children.clear_and_dispose([](watcher* w) {
    w->end_now();
    delete w;
  });
}

error_code child_process::watcher::watch(pid_t pid) {
  pid_ = pid;
  pidfd_ = file_descriptor(pidfd_open(pid));
  // If SIGCHLD is ignored, the kernel may already have reaped the program. A readable eventfd then takes its place.
  if (!pidfd_ && errno == ESRCH) pidfd_ = file_descriptor(::eventfd(1, EFD_CLOEXEC));
  if (!pidfd_) return errno == ENOSYS || errno == EPERM ? make_error_code(errc::no_pidfd) : system_error_code(errno);
  const error_code ec = loop_.io().add(*this, pidfd_.get());
  return ec == boost::system::errc::operation_not_supported ? make_error_code(errc::operation_not_supported) : ec;
}

void child_process::watcher::on_event() {
  const exit_status status = collect(pidfd_.get(), pid_);
  unwatch();
  unlink();
  loop_.defer(*this);  // deferred: the engine is dispatching
  child_process* const owner = owner_;
  const exit_function on_exit = disown();
  if (!owner) return;
  owner->watcher_ = nullptr;
  try {
    if (on_exit) on_exit(status);
  } catch (...) {
    loop_.counters().handler_errors.add();
  }
}

error_code child_process::start(const std::vector<std::string>& program_and_arguments, exit_function on_exit) {
  if (running()) return system_error_code(EBUSY);
  if (program_and_arguments.empty()) return system_error_code(EINVAL);
  auto fresh = std::make_unique<watcher>(*this, std::move(on_exit));
  uncollected_programs& children = loop_.use<uncollected_programs>();
  // First watch this process in the child's place: a program that cannot be watched must not be started.
  if (const error_code ec = fresh->watch(::getpid())) return ec;
  fresh->unwatch();
  pid_t pid = -1;
  if (const int error = spawn(program_and_arguments, pid)) return system_error_code(error);
  if (const error_code ec = fresh->watch(pid)) {  // descriptors or memory ran out in between
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return ec;
  }
  children.children.push_back(*fresh);
  watcher_ = fresh.release();
  return {};
}

error_code child_process::kill(int signal) noexcept {
  return watcher_ ? watcher_->send(signal) : system_error_code(ESRCH);
}

void child_process::abandon() noexcept {
  if (!watcher_) return;
  (void)watcher_->send(SIGKILL);
  (void)std::exchange(watcher_, nullptr)->disown();
}

}  // namespace quintet
