// SPDX-License-Identifier: BSL-1.0
// stop_signals.hpp: SIGINT and SIGTERM as a descriptor, so that a command ends in good order and keeps its results.
#pragma once

#include "unique_fd.hpp"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace quintet::bench {

/// Blocks SIGINT and SIGTERM, which make fd() readable from then on. After take(), the next signal kills as usual.
class stop_signals {
 public:
  stop_signals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    fd_ = unique_fd(::signalfd(-1, &set_, SFD_CLOEXEC));
  }
  int fd() const { return fd_.get(); }
  int take() {
    signalfd_siginfo info{};
    const bool got = ::read(fd_.get(), &info, sizeof info) == sizeof info;
    ::pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
    return got ? static_cast<int>(info.ssi_signo) : SIGINT;
  }

 private:
  sigset_t set_{};
  unique_fd fd_;
};

}  // namespace quintet::bench
