// SPDX-License-Identifier: BSL-1.0
// prefork: an echo server of several processes on one port. Each has one thread, one loop and a listener of its own
// (port_sharing::processes), and the kernel spreads connections over the listeners. The parent starts them, replaces
// one that dies, and stops all.
//
// Processes are better than threads where a fault must not end every connection, and where a handler calls a library
// that is not safe for several threads or keeps global state. Processes have these costs:
// - each has its own memory: caches are held several times, and nothing can be sent to a connection of another one;
// - limits, such as max_connections, hold for each process and not for all;
// - the kernel's hash spreads connections unevenly, and no connection can move to another process;
// - a process that dies takes its connections with it, and also those that wait in its listener's backlog.
#include "common/options.hpp"
#include "prefork/supervisor.hpp"

#include <quintet/net/file_descriptor.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

bool set(int socket, int level, int option, int value) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0;
}

// Makes a socket that has the port and does not listen. So the system picks port 0 once for all processes, and an
// address in use is found before there are any. Two sockets may be bound to one port while neither listens: so for a
// port that was named it listens, which only one can, and then lets nobody have the port but those who share it.
quintet::file_descriptor reserve(const quintet::address& at) {
  quintet::file_descriptor s(::socket(at.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto bind = [&] { return ::bind(s.get(), at.data(), at.size()) == 0; };
  const auto bind_alone = [&] {
    return set(s.get(), SOL_SOCKET, SO_REUSEADDR, 1) && bind() && ::listen(s.get(), 1) == 0 &&
           set(s.get(), SOL_SOCKET, SO_REUSEADDR, 0);
  };
  const bool is_named = at.port() != 0;
  if (s && (at.type() != quintet::address::kind::ipv6 || set(s.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1)) &&
      (is_named ? bind_alone() : bind()) && set(s.get(), SOL_SOCKET, SO_REUSEPORT, 1) &&
      (!is_named || ::shutdown(s.get(), SHUT_RD) == 0))
    return s;
  throw boost::system::system_error(errno, boost::system::system_category(), "cannot listen on " + at.to_string());
}

quintet::address address_of(int socket) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) != 0) return {};
  return {reinterpret_cast<const sockaddr*>(&at), size};
}

// Runs in a child.
int serve(const quintet::config& config, const std::function<void()>& ready) {
  try {
    quintet::server server(config, [](quintet::connection& c, quintet::bytes in) { c.write(in); });
    const quintet::drain_on_signals drainer(server, example::drain_time, {SIGTERM});
    ready();
    server.run();
    prefork::tell("process " + std::to_string(::getpid()) + " has accepted " +
                  std::to_string(server.statistics().accepted) + " connections");
    return 0;
  } catch (...) {
    return example::report_exception("prefork");
  }
}

// Runs in the parent.
int run(quintet::config& config, std::size_t processes) {
  quintet::validate(quintet::server_options_of(config));
  std::vector<quintet::file_descriptor> reserved;
  std::vector<quintet::address> addresses;
  for (quintet::listen_options& l : config.listen) {
    if (l.descriptor < 0) {
      reserved.push_back(reserve(quintet::address(l.at)));
      l.at = address_of(reserved.back().get()).to_string();
    }
    addresses.push_back(l.descriptor < 0 ? quintet::address(l.at) : address_of(l.descriptor));
  }
  prefork::supervisor parent(processes, [&config](const auto& ready) { return serve(config, ready); });
  if (!parent.start()) return 1;  // a child has said why
  example::announce("prefork", config, false, addresses);
  return parent.run();
}

}  // namespace

int main(int argc, char** argv) {
  const quintet::listen_options shared("127.0.0.1:7045", {.sharing = quintet::port_sharing::processes});
  auto config = quintet::config::public_defaults({shared});
  config.model = quintet::model::single_reactor;
  std::size_t processes = std::max(1U, std::thread::hardware_concurrency());
  example::command_line("prefork", "Sends back what it receives: several processes, of one thread each, on one port.")
      .server(config, false)
      .number("--processes", processes, 1, 1024, "child processes")
      .try_it("  prefork --processes 4 &\n  nc 127.0.0.1 7045\n  pkill -KILL -n prefork    # another one replaces it")
      .parse(argc, argv);
  try {
    return run(config, processes);
  } catch (...) {
    return example::report_exception("prefork");
  }
}
