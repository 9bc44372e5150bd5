// SPDX-License-Identifier: BSL-1.0
// echo.cpp: sends back all input, in a project that builds Quintet itself. Asks its own server once.
#include <quintet/base/version.hpp>
#include <quintet/threadmodels/server.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

namespace {

// By system calls: g++ 12 warns in Boost's headers with this project's options.
std::string ask(unsigned short port, const std::string& question) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(port);
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer(question.size(), '\0');
  if (connect(client, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0 ||
      send(client, question.data(), question.size(), 0) != static_cast<ssize_t>(question.size()) ||
      recv(client, answer.data(), answer.size(), MSG_WAITALL) != static_cast<ssize_t>(answer.size()))
    answer.clear();
  close(client);
  return answer;
}

}  // namespace

int main() {
  quintet::server echo({.listen = {"127.0.0.1:0"}}, [](quintet::connection& c, quintet::bytes in) { c.write(in); });
  std::thread running([&] { echo.run(); });
  const bool right = ask(echo.port(), "hello") == "hello";
  echo.stop();
  running.join();
  std::printf("Quintet %s: %s\n", QUINTET_VERSION_STRING, right ? "echoed" : "did not echo");
  return right ? 0 : 1;
}
