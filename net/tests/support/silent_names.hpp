// SPDX-License-Identifier: BSL-1.0
// silent_names: a process whose name server never answers, as behind a broken network. Real look-ups then hang.
#pragma once

#include "needs.hpp"
#include "sockets.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quintet::testing {

/// Needs no rights: a user who is not root, or root without CAP_SYS_ADMIN, gets a user namespace.
class silent_names {
 public:
  /// A name that is asked of the server.
  static constexpr const char* name = "silent.example";

  /// Moves the calling process, which must have one thread, to namespaces of its own. There localhost is known, and
  /// every other name is asked of a server on 127.0.0.1 that never answers. problem() says why that was not possible.
  silent_names() : problem_(enter()) {}
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  static std::string failed(const std::string& what) { return what + ": " + std::strerror(errno); }
  static bool write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    return static_cast<bool>(file << text << std::flush);
  }
  static std::string unshare_all() {
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    if (user == 0 && ::unshare(CLONE_NEWNS | CLONE_NEWNET) == 0) return {};
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) != 0) return failed("unshare");
    write_file("/proc/self/setgroups", "deny");
    if (!write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") ||
        !write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1"))
      return failed("the maps of the user namespace");
    return {};
  }
  static std::string enable_loopback() {
    const file_descriptor any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq lo{};
    std::strcpy(lo.ifr_name, "lo");  // NOLINT: fits
    lo.ifr_flags = IFF_UP;
    return ::ioctl(any.get(), SIOCSIFFLAGS, &lo) == 0 ? std::string() : failed("enabling lo");
  }
  std::string replace(const std::string& name_in_etc, const std::string& text) const {
    const std::string made = directory_.file(name_in_etc), in_etc = "/etc/" + name_in_etc;
    if (!write_file(made, text)) return failed(made);
    if (::mount(made.c_str(), in_etc.c_str(), nullptr, MS_BIND, nullptr) != 0) return failed("mounting " + in_etc);
    return {};
  }
  std::string listen() {
    server_ = file_descriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const address at("127.0.0.1:53");
    return ::bind(server_.get(), at.data(), at.size()) == 0 ? std::string() : failed("binding port 53");
  }
  std::string enter() {
    if (std::string problem = unshare_all(); !problem.empty()) return problem;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed("private mounts");
    std::string problem = enable_loopback();
    if (problem.empty()) problem = replace("hosts", "127.0.0.1 localhost\n");
    if (problem.empty()) problem = replace("nsswitch.conf", "hosts: files dns\n");
    if (problem.empty()) problem = replace("resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n");
    return problem.empty() ? listen() : problem;
  }

  scratch_directory directory_;
  file_descriptor server_;
  std::string problem_;
};

/// Runs f() in a child process that silent_names has moved, and returns its exit status; -1 after a signal. f must not
/// return before its threads have ended. A status of `not_possible`: silent_names has a problem.
inline constexpr int not_possible = 77;
template <class F>
int with_silent_names(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = not_possible;
    {
      const silent_names entered;
      if (entered.problem().empty())
        status = f();
      else
        (void)std::fprintf(stderr, "silent_names: %s\n", entered.problem().c_str());
    }
    ::_exit(status);
  }
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) (void)std::fprintf(stderr, "silent_names: the child ended by signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Usage: BOOST_TEST_DECORATOR(*boost::unit_test::precondition(needs_silent_names))
inline boost::test_tools::assertion_result needs_silent_names(boost::unit_test::test_unit_id id) {
  static const bool possible = with_silent_names([] { return 0; }) == 0;
  return skipped_unless(possible, id, "the system allows no user, network and mount namespaces");
}

}  // namespace quintet::testing
