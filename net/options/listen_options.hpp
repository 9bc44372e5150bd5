// SPDX-License-Identifier: BSL-1.0
// listen_options: one place to listen at, and how.
#pragma once

#include "../names/address.hpp"
#include "socket_options.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace quintet {

/// Who else may listen at the same address and port (SO_REUSEPORT, IP only); the kernel spreads connections over all.
enum class port_sharing {
  none,
  processes,   ///< whoever says so as well, and is of the same user
  first_loop,  ///< a server's own sockets, which it says by itself where its loops accept; see accept_strategy
  next_loop,
};

/// How to listen; a second value beside the address, so that its fields can be named where they are given.
struct listener_settings {
  bool priority = false;    ///< a loop and a thread of its own for the connections that come here; see priority_options
  bool dual_stack = false;  ///< an IPv6 address only: IPv4 clients as well
  int backlog = 1024;       ///< connections that may wait to be accepted; what the system cuts of it, the log is told
  /// TCP only: who connects is accepted when its first bytes have come, or when this time is over, which the kernel
  /// counts in its retransmissions. Not for protocols in which the server speaks first. Zero: at once.
  std::chrono::seconds defer_accept{0};
  /// TCP only: so many connections may be under way whose first bytes came with the SYN (TCP_FASTOPEN), where the
  /// system's net.ipv4.tcp_fastopen lets servers do that. A request may then arrive twice. 0: none.
  int fast_open = 0;
  std::optional<mode_t> mode = {};  ///< permissions of a Unix socket's file; otherwise as the process's umask says
  socket_options socket = {};       ///< of each connection: buffers, keep_alive, user_timeout
  port_sharing sharing = port_sharing::none;
  int descriptor = -1;  ///< not -1: a listening socket that exists already, and becomes the server's; `at` is ignored
};

/// `{"127.0.0.1:80", "unix:/run/kv.sock", {"[::1]:81", {.priority = true}}}` is a vector of three.
struct listen_options : listener_settings {
  listen_options(std::string where, const listener_settings& how = {}) : listener_settings(how), at(std::move(where)) {}
  listen_options(const char* where, const listener_settings& how = {}) : listen_options(std::string(where), how) {}

  std::string at;  ///< see address.hpp for the syntax; port 0: the system picks one
};

/// Where a server listens when it is not told: on every IPv4 address, at a port that the system picks. (A function,
/// since g++ 12 cannot compile the list itself as a member's default where a template uses it.)
inline std::vector<listen_options> default_listeners() { return {"0.0.0.0:0"}; }

/// Throws config_error.
void validate(const listen_options& options);

/// [before run] The sockets that the parent process, such as systemd, has opened and left to this one by the protocol
/// of sd_listen_fds (LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES), to be listened on as they are. One that is named
/// "priority" (FileDescriptorName=priority) is for the priority loop. Empty when there are none for this process.
/// Throws config_error when the variables contradict the protocol. Call it once: the sockets have one owner.
std::vector<listen_options> inherited_listeners();

}  // namespace quintet
