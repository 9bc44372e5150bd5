// SPDX-License-Identifier: BSL-1.0
// counting: is preloaded, as a network stack would be. Says at the end which functions other threads than the first
// called.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

namespace {

std::atomic<int> receives{0}, sends{0}, waits{0};

bool is_server() { return ::syscall(SYS_gettid) != ::getpid(); }
template <class F>
F* original(F*, const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

struct reporter {
  ~reporter() {
    std::printf("receives: %s, sends: %s, waits: %s\n", receives > 0 ? "seen" : "not seen",
                sends > 0 ? "seen" : "not seen", waits > 0 ? "seen" : "not seen");
  }
} at_end;

}  // namespace

extern "C" ssize_t recv(int fd, void* into, size_t size, int flags) {
  if (is_server()) ++receives;
  return original(&recv, "recv")(fd, into, size, flags);
}
extern "C" ssize_t send(int fd, const void* from, size_t size, int flags) {
  if (is_server()) ++sends;
  return original(&send, "send")(fd, from, size, flags);
}
extern "C" int epoll_wait(int set, epoll_event* events, int size, int timeout) {
  if (is_server()) ++waits;
  return original(&epoll_wait, "epoll_wait")(set, events, size, timeout);
}
