// SPDX-License-Identifier: BSL-1.0
// program_echo.cpp: an echo server that is a program beside this one, and takes its place in the process.
#include "listen.hpp"
#include "peers/makers.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

namespace quintet::bench {
namespace {

/// The program gets the listening socket as its standard input. It ends by a signal.
class program_echo final : public peer_server {
 public:
  program_echo(std::string_view program, const peer_options& o)
      : program_(path_beside(program)), listening_(listen_on(o.address, o.port)), threads_(std::to_string(o.threads)) {}

  void run() override {
    if (::dup2(listening_.get(), STDIN_FILENO) == STDIN_FILENO)
      ::execl(program_.c_str(), program_.c_str(), threads_.c_str(), nullptr);
    throw std::system_error(errno, std::generic_category(), "cannot start " + program_);
  }
  void stop() noexcept override { ::_exit(0); }  // before run(), where a signal has nothing else to end
  std::uint16_t port() const override { return local_port(listening_); }

 private:
  std::string program_;
  unique_fd listening_;
  std::string threads_;
};

}  // namespace

std::unique_ptr<peer_server> make_tokio_echo(const peer_options& o) {
  return std::make_unique<program_echo>(tokio_program, o);
}

std::unique_ptr<peer_server> make_asio_uring_echo(const peer_options& o) {
  return std::make_unique<program_echo>(asio_uring_program, o);
}

}  // namespace quintet::bench
