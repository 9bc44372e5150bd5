// SPDX-License-Identifier: BSL-1.0
// budget: an echo server that ends after a given number of requests, for callgrind to count its instructions.
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include "budget.hpp"

#include <arpa/inet.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t message_bytes = 8;

/// The bytes that a client sends, and how many it receives, for each message.
struct talk {
  std::string upgrade{};  // first, if not empty
  std::string request{};
  std::size_t reply = message_bytes;
};
talk plain_talk() { return {.request = "request\n"}; }
talk websocket_talk() {
  return {.upgrade =
              "GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
          .request = std::string("\x81\x88\0\0\0\0", 6) + "request\n",
          .reply = 2 + message_bytes};
}

int connected_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? fd : -1;
}

bool send_all(int fd, const std::string& text) {
  return send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

bool is_upgraded(int fd, const std::string& request) {
  if (request.empty()) return true;
  std::string answer;
  for (char c = 0; !answer.ends_with("\r\n\r\n") && recv(fd, &c, 1, 0) == 1;) answer += c;
  return answer.starts_with("HTTP/1.1 101");
}

// All connections send one request, then all receive: the server's
// instructions then depend only on the number of requests.
bool complete_round(const std::vector<int>& connections, const talk& with) {
  std::array<char, 64> reply{};
  const auto sent = [&](int fd) { return send_all(fd, with.request); };
  const auto got = [&](int fd) {
    return recv(fd, reply.data(), with.reply, MSG_WAITALL) == static_cast<ssize_t>(with.reply);
  };
  return std::all_of(connections.begin(), connections.end(), sent) &&
         std::all_of(connections.begin(), connections.end(), got);
}

int be_client(const talk& with, std::uint16_t port, long requests, long count) {
  std::vector<int> connections;
  for (long i = 0; i < count; ++i) {
    connections.push_back(connected_to(port));
    if (!send_all(connections.back(), with.upgrade) || !is_upgraded(connections.back(), with.upgrade))
      return EXIT_FAILURE;
  }
  for (long done = 0; done < requests; done += count)
    if (!complete_round(connections, with)) return EXIT_FAILURE;
  return EXIT_SUCCESS;
}

}  // namespace

bool quintet::budget::client_succeeds(std::uint16_t port, std::string requests, std::string connections,
                                      std::string role) {
  // Under valgrind, /proc/self/exe itself names valgrind's tool.
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::string port_text = std::to_string(port);
  const std::array<char*, 6> arguments{self.data(),     role.data(),        port_text.data(),
                                       requests.data(), connections.data(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) return false;
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

namespace {

quintet::awaitable<> in_coroutine(quintet::stream& s) {
  while (auto in = co_await s.read()) s.write(*in);
}

// A server of messages: each is awaited, with a time limit that is off.
quintet::awaitable<> by_messages(quintet::stream& s) {
  for (;;) {
    const auto limit = s.with_read_deadline(quintet::time_point::max());
    const auto in = co_await s.read_exactly(message_bytes);
    if (!in) co_return;
    s.write(*in);
  }
}

// Settings: "bare", "limits" (as config::public_defaults()), "watched" (with the watchdog), or "both".
quintet::config config_for(quintet::model model, const std::string& settings) {
  const bool limited = settings == "limits" || settings == "both",
             watched = settings == "watched" || settings == "both";
  auto c = limited ? quintet::config::public_defaults({"127.0.0.1:0"}) : quintet::config{.listen = {"127.0.0.1:0"}};
  c.model = model;
  // Under valgrind a batch takes fifty times as long. A high threshold keeps placement independent of time.
  c.threads = {.loops = 1, .workers = {.min = 1, .max = 1}, .offload = {.threshold = std::chrono::seconds(1)}};
  c.advanced.stalls.bound = watched ? std::chrono::hours(1) : std::chrono::hours(0);
  return c;
}

template <class Handler>
int be_server(const quintet::config& with, Handler handler, const std::string& requests,
              const std::string& connections) {
  return quintet::budget::serve(quintet::server(with, handler), requests, connections);
}

long number(const char* text) { return std::strtol(text, nullptr, 10); }

}  // namespace

int main(int argc, char** argv) {
  if (const std::string role = argc == 5 ? argv[1] : ""; role == "client" || role == "websocket_client")
    return be_client(role == "client" ? plain_talk() : websocket_talk(), static_cast<std::uint16_t>(number(argv[2])),
                     number(argv[3]), number(argv[4]));
  const auto model = argc == 6 ? quintet::from_string(argv[1]) : std::nullopt;
  const std::string flavour = argc == 6 ? argv[2] : "", settings = argc == 6 ? argv[3] : "";
  const std::array<std::string, 4> all{"bare", "limits", "watched", "both"};
  const std::array<std::string, 11> flavours{"callback",         "coroutine",       "messages",       "stream_callback",
                                             "stream_awaits",    "plain_callback",  "plain_awaits",   "inside_callback",
                                             "stream_websocket", "plain_websocket", "inside_unlocked"};
  if (!model || std::ranges::count(flavours, flavour) == 0 || std::ranges::count(all, settings) == 0 ||
      number(argv[4]) < 1 || number(argv[5]) < 1) {
    std::fputs(
        "Usage: quintet-budget MODEL FLAVOUR bare|limits|watched|both REQUESTS CONNECTIONS\n"
        "MODEL is the name of a model. FLAVOUR is callback, coroutine or messages; stream_callback, stream_awaits or\n"
        "stream_websocket, on asio_stream; plain_callback, plain_awaits or plain_websocket, of Asio alone: whatever "
        "the\n"
        "model is; inside_callback or inside_unlocked, in an io_context\n",
        stderr);
    return 2;
  }
  const quintet::config with = config_for(*model, settings);
  if (flavour.ends_with("_websocket")) return quintet::budget::serve_beast_echo(flavour, with, argv[4], argv[5]);
  if (flavour.starts_with("plain_") || flavour.starts_with("stream_"))
    return quintet::budget::serve_asio_echo(flavour, with, argv[4], argv[5]);
  if (flavour.starts_with("inside_")) return quintet::budget::serve_inside(flavour, with, argv[4], argv[5]);
  if (flavour == "coroutine") return be_server(with, in_coroutine, argv[4], argv[5]);
  if (flavour == "messages") return be_server(with, by_messages, argv[4], argv[5]);
  return be_server(with, [](quintet::connection& c, quintet::bytes in) { c.write(in); }, argv[4], argv[5]);
}
