// SPDX-License-Identifier: BSL-1.0
// listen_options: one address to listen at, and how.
#pragma once

#include "../../base/enum_names.hpp"
#include "../names/address.hpp"
#include "limits.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace quintet {

class handshake_source;
class transport;
struct loop_tuning;

/// Selects who else may listen at the same address and port (SO_REUSEPORT, IP only). The kernel spreads connections
/// over all listening sockets.
enum class port_sharing {
  none,
  processes,   ///< other processes of the same user that select it too
  first_loop,  ///< set by the server where each of its loops accepts, see accept_strategy: the first socket
  next_loop,   ///< set by the server: each further socket
};

/// Selects what a Unix socket's connection can become; see doc/shared_memory.md.
enum class connection_upgrade : std::uint8_t {
  none,
  shared_memory,  ///< a listener also offers shared memory, at its address with ".shm" appended; a client asks for it
  offer,          ///< set by the server: the listener at that address
};

/// The user and the process at the other end of a Unix socket, as the kernel recorded them when it connected.
struct peer_credentials {
  pid_t process = 0;  ///< 0 if it is in a PID namespace that this process cannot see
  uid_t user = 0;     ///< effective
  gid_t group = 0;    ///< effective
};

/// [any thread] Returns whether the peer is a process of this user, or of root. For may_connect and may_attach.
[[nodiscard]] bool is_own_user(const peer_credentials& peer) noexcept;

/// Connections over shared memory, for a listener that offers them.
struct shared_memory_options {
  /// Bytes of the ring of each direction, a power of two from 4 KiB to 64 MiB. A connection has two, and a page.
  std::size_t ring_size = 64 * 1024;
  /// [loop] Decides on each client that connects for shared memory. Refused clients can use the Unix socket. Empty: the
  /// server's own user, and root.
  std::function<bool(const peer_credentials&)> may_attach = {};
  /// Connections that share one file in memory, from 1 to 1024. A client could read and write the rings of the others:
  /// more than 1 is for clients that trust each other. Unused rings cost only address space.
  unsigned connections_per_file = 1;
};

/// HAProxy's PROXY protocol, versions 1 and 2: each connection of a proxy begins with a header that names its client.
/// See doc/accepting.md.
struct proxy_options {
  /// Networks of the proxies: "10.0.0.0/8", "::1", "unix:" (address_prefix). Others are refused. Empty: no header is
  /// read.
  std::vector<std::string> trusted = {};
  duration timeout = std::chrono::seconds(3);  ///< for the whole header, from the accept
  std::size_t max_size = 2064;                 ///< bytes of a header, from 232 (the longest addresses) to 64 KiB
};

/// Of the TLS handshakes of one listener, on each loop that accepts for it.
struct handshake_limits {
  duration timeout = std::chrono::seconds(10);  ///< for the whole handshake, from the accept, waiting included
  /// Handshakes in progress whose first record has come: each takes some 50 KB. Further ones wait, and take 1 KB.
  std::size_t at_once = 1000;
  /// Handshakes that begin in a second, after a quiet time at once. Further ones wait. 0: no limit.
  unsigned per_second = 0;
};

/// Selects when a listener's connections begin TLS. All but the first are for protocols whose client speaks first.
enum class tls_beginning : std::uint8_t {
  at_once,  ///< with `tls`: at the accept; plain text is refused
  /// Those that begin with a ClientHello, at once. Others stay plain, and may call start_tls(): so do those that send
  /// nothing for `handshakes.timeout`.
  if_detected,
  on_request,  ///< plain, until connection::start_tls(), which names the context; `tls` is null
};

/// How to listen. A struct of its own, so that its fields can be named beside an address.
struct listener_settings {
  bool priority = false;    ///< its connections belong to the priority loop, see priority_options
  bool dual_stack = false;  ///< IPv6 addresses only: accept IPv4 clients too
  int backlog = 1024;       ///< connections that may wait to be accepted; if the system allows fewer, the log says so
  /// Permissions of a Unix socket's file. Without a value, the process's umask decides.
  std::optional<mode_t> mode = {};
  /// [loop] Unix sockets only: decides on each client by its process, user and group (SO_PEERCRED). Others are closed,
  /// and counted as refused (EACCES). Empty: the file's mode decides; an abstract name is open to every user.
  std::function<bool(const peer_credentials&)> may_connect = {};
  /// TLS for each connection: a tls_context, which many listeners may share. Null: plain. See doc/tls.md.
  std::shared_ptr<handshake_source> tls = {};
  tls_beginning tls_begins = tls_beginning::at_once;
  handshake_limits handshakes = {};                       ///< for `tls`
  proxy_options proxy = {};                               ///< whether proxies tell who their clients are
  socket_options socket = {};                             ///< of each connection: buffers, keep_alive, user_timeout
  port_sharing sharing = port_sharing::none;              ///< whether other sockets may have the same port
  connection_upgrade upgrade = connection_upgrade::none;  ///< Unix sockets only
  shared_memory_options shared_memory = {};               ///< for `upgrade`
  /// Set by the library, and by its tests: makes the transport of each connection from the one below it, or nullptr.
  std::function<std::unique_ptr<transport>(std::unique_ptr<transport> below)> carry = {};
  int descriptor =
      -1;  ///< if not -1: an existing listening socket, with options of its own; the server owns it, `at` is ignored
};

/// `{"127.0.0.1:80", "unix:/run/kv.sock", {"[::1]:81", {.priority = true}}}` is a vector of three.
struct listen_options : listener_settings {
  /// `where` is the address; `how` has everything else.
  listen_options(std::string where, const listener_settings& how = {}) : listener_settings(how), at(std::move(where)) {}
  listen_options(const char* where, const listener_settings& how = {}) : listen_options(std::string(where), how) {}

  std::string at;  ///< see address.hpp for the syntax; port 0: the system picks one
};

/// Returns the default of server_options::listen: every IPv4 address, at a port that the system picks. (A function:
/// g++ 12 cannot compile the list as a member's default where a template uses it.)
inline std::vector<listen_options> default_listeners() { return {"0.0.0.0:0"}; }

/// [any thread] Whether a listener offers shared memory. Then all loops of its server serve it.
[[nodiscard]] bool offers_shared_memory(const std::vector<listen_options>& listeners) noexcept;
/// [any thread] Sets what the connections of these listeners demand of all loops.
void add_demands(loop_tuning& of_loops, const std::vector<listen_options>& listeners) noexcept;

/// [any thread] Throws config_error.
void validate(const listen_options& options);

/// [before run] Returns the listening sockets that the parent process, such as systemd, has passed to this one by the
/// protocol of sd_listen_fds (LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES). A socket named "priority"
/// (FileDescriptorName=priority) belongs to the priority loop. Empty if none was passed to this process. Throws
/// config_error if the variables contradict the protocol. Call it once: each socket has one owner.
std::vector<listen_options> inherited_listeners();

/// Selects the accepting threads. All strategies but the first need loop_per_thread or loop_per_thread_pool: a
/// connection then starts on the loop that accepted it. If the model, the engine or the kernel lacks a strategy, the
/// server uses the nearest one and logs that; advanced_options::accept_strictly makes it an error.
enum class accept_strategy {
  main_reactor,    ///< the main loop accepts, and the model places the connections, see placement_policy
  reuse_port,      ///< a listening socket for each loop (SO_REUSEPORT): the kernel spreads connections by a hash
  reuse_port_cpu,  ///< reuse_port, but the kernel picks the loop of the receiving CPU; loops are pinned
  exclusive,       ///< all loops watch one listening socket; the kernel wakes one of them (EPOLLEXCLUSIVE)
};

template <>
inline constexpr auto enum_names<accept_strategy> =
    std::to_array<enum_name<accept_strategy>>({{accept_strategy::main_reactor, "main_reactor"},
                                               {accept_strategy::reuse_port, "reuse_port"},
                                               {accept_strategy::reuse_port_cpu, "reuse_port_cpu"},
                                               {accept_strategy::exclusive, "exclusive"}});

}  // namespace quintet
