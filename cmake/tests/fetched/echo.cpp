// SPDX-License-Identifier: BSL-1.0
// echo.cpp: sends back all input, in a project that builds Quintet itself. Asks its own server once.
#include <quintet/base/version.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <cstdio>
#include <string>
#include <thread>

namespace {

std::string ask(unsigned short port, const std::string& question) {
  namespace asio = boost::asio;
  asio::io_context context;
  asio::ip::tcp::socket socket(context);
  socket.connect({asio::ip::address_v4::loopback(), port});
  asio::write(socket, asio::buffer(question));
  std::string answer(question.size(), '\0');
  asio::read(socket, asio::buffer(answer));
  return answer;
}

}  // namespace

int main() {
  quintet::server echo({.listen = {"127.0.0.1:0"}}, [](quintet::connection& c, quintet::bytes in) { c.write(in); });
  std::thread running([&] { echo.run(); });
  const bool right = ask(static_cast<unsigned short>(echo.port()), "hello") == "hello";
  echo.stop();
  running.join();
  std::printf("Quintet %s: %s\n", QUINTET_VERSION_STRING, right ? "echoed" : "did not echo");
  return right ? 0 : 1;
}
