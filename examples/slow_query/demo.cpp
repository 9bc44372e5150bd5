// SPDX-License-Identifier: BSL-1.0
// demo: measures with blocking clients and prints a table.
#include "demo.hpp"

#include "query.hpp"

#include <quintet/net/file_descriptor.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace slow_query {
namespace {

using clock = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;

constexpr unsigned clients = 8;

class client {
 public:
  explicit client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!fd_ || ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot connect");
  }
  /// Sends a line, waits for the answer line, and returns the time that it took.
  milliseconds ask(const std::string& query) {
    const auto begun = clock::now();
    const std::string line = query + "\n";
    char c = 0;
    if (::send(fd_.get(), line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size()))
      while (c != '\n' && ::recv(fd_.get(), &c, 1, 0) == 1) {
      }
    if (c != '\n') throw std::runtime_error("the server closed the connection");
    return clock::now() - begun;
  }

 private:
  quintet::file_descriptor fd_;
};

// Pings every few milliseconds until finish(), which returns the longest round trip.
class pinger {
 public:
  explicit pinger(std::uint16_t port)
      : client_(port), thread_([this] {
          while (!stop_) {
            worst_ = std::max(worst_, client_.ask("ping"));
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          }
        }) {}
  milliseconds finish() {
    stop_ = true;
    thread_.join();
    return worst_;
  }

 private:
  client client_;
  std::atomic<bool> stop_{false};
  milliseconds worst_{0};
  std::thread thread_;
};

void measure(const quintet::config& config, const std::string& query) {
  quintet::server server(config, session());
  std::thread running([&] { server.run(); });
  std::vector<client> asking;
  asking.reserve(clients);
  for (unsigned i = 0; i < clients; ++i) asking.emplace_back(server.port()).ask("ping");  // accepted, threads started
  pinger ordinary(server.port()), priority(server.priority_port());

  const auto begun = clock::now();
  std::vector<std::thread> waiting;
  waiting.reserve(clients);
  for (client& c : asking) waiting.emplace_back([&] { c.ask(query); });
  for (std::thread& t : waiting) t.join();
  const milliseconds all = clock::now() - begun;

  const milliseconds worst_ordinary = ordinary.finish(), worst_priority = priority.finish();
  std::printf("%-24s %12.1f %18.1f %18.1f\n", std::string(to_string(config.model)).c_str(), all.count(),
              worst_ordinary.count(), worst_priority.count());
  std::fflush(stdout);
  asking.clear();
  server.stop();
  running.join();
}

}  // namespace

void demonstrate(quintet::config config) {
  config.listen = {"127.0.0.1:0", {"127.0.0.1:0", {.priority = true}}};
  for (const std::string query : {"sleep 50", "spin 20"}) {
    std::printf("%u clients ask '%s' at the same time (%u loops, %u..%u workers); milliseconds:\n\n", clients,
                query.c_str(), config.threads.loops, config.threads.workers.min, config.threads.workers.max);
    std::printf("%-24s %12s %18s %18s\n", "model", "all answered", "worst ping beside", "on priority port");
    for (const quintet::model m : quintet::all_models) {
      config.model = m;
      measure(config, query);
    }
    std::printf("\n");
  }
}

}  // namespace slow_query
