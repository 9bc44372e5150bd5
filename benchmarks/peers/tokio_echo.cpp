// SPDX-License-Identifier: BSL-1.0
// tokio_echo.cpp: an echo server on Tokio: a program beside this one, which takes its place in the process.
#include "peers/listen.hpp"
#include "peers/makers.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace quintet::bench {
namespace {

/// The program gets the listening socket as its standard input. It ends by a signal.
class tokio_echo final : public peer_server {
 public:
  tokio_echo(const std::string& address, std::uint16_t port, unsigned threads)
      : listening_(listen_on(address, port, false)), threads_(std::to_string(threads)) {}

  void run() override {
    const std::string program = path_beside(tokio_program);
    if (::dup2(listening_.get(), STDIN_FILENO) == STDIN_FILENO)
      ::execl(program.c_str(), program.c_str(), threads_.c_str(), nullptr);
    throw std::system_error(errno, std::generic_category(), "cannot start " + program);
  }
  void stop() noexcept override { ::_exit(0); }  // before run(), where a signal has nothing else to end
  std::uint16_t port() const override { return local_port(listening_); }

 private:
  unique_fd listening_;
  std::string threads_;
};

}  // namespace

std::unique_ptr<peer_server> make_tokio_echo(const std::string& address, std::uint16_t port, unsigned threads) {
  return std::make_unique<tokio_echo>(address, port, threads);
}

}  // namespace quintet::bench
