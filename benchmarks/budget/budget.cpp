// SPDX-License-Identifier: BSL-1.0
// budget: an echo server that answers a given number of requests and ends, for callgrind to count its instructions.
#include <quintet/threadmodels/server.hpp>

#include <arpa/inet.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

namespace {

constexpr std::size_t message_bytes = 8;

// One request at a time: what the server executes then depends on the number of requests and on nothing else.
int be_client(std::uint16_t port, long requests) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return EXIT_FAILURE;
  std::array<char, message_bytes> message{'r', 'e', 'q', 'u', 'e', 's', 't', '\n'};
  for (long i = 0; i < requests; ++i) {
    if (send(fd, message.data(), message.size(), MSG_NOSIGNAL) != message_bytes) return EXIT_FAILURE;
    if (recv(fd, message.data(), message.size(), MSG_WAITALL) != message_bytes) return EXIT_FAILURE;
  }
  close(fd);
  return EXIT_SUCCESS;
}

// A process of its own, which callgrind neither slows down nor counts: this program again.
bool client_succeeds(std::uint16_t port, const std::string& requests) {
  std::string self = std::filesystem::read_symlink("/proc/self/exe");  // the link itself is valgrind's tool
  std::string role = "client";
  std::string port_text = std::to_string(port);
  std::string count = requests;
  const std::array<char*, 5> arguments{self.data(), role.data(), port_text.data(), count.data(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) return false;
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

int be_server(quintet::model model, const std::string& requests) {
  quintet::server echo({.listen = {"127.0.0.1:0"}, .model = model, .loops = 1, .workers = {.min = 1, .max = 1}},
                       [](quintet::connection& c, quintet::bytes in) { c.write(in); });
  bool succeeded = false;
  std::thread client([&] {
    succeeded = client_succeeds(echo.port(), requests);
    echo.stop();
  });
  echo.run();
  client.join();
  return succeeded ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "client") {
    return be_client(static_cast<std::uint16_t>(std::strtoul(argv[2], nullptr, 10)), std::strtol(argv[3], nullptr, 10));
  }
  const auto model = argc == 3 ? quintet::from_string(argv[1]) : std::nullopt;
  if (!model) {
    std::fputs("Usage: quintet-budget MODEL REQUESTS, with the name of one of the five models\n", stderr);
    return 2;
  }
  return be_server(*model, argv[2]);
}
