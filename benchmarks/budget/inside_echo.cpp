// SPDX-License-Identifier: BSL-1.0
// inside_echo: the echo of the budget by a server inside of the program's io_context.
#include "budget.hpp"

#include <quintet/net/asio.hpp>

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <string>

namespace quintet::budget {
namespace {

class inside_server {
 public:
  inside_server(int hint, const config& with)
      : context_(hint), server_(with, [](connection& c, bytes in) { c.write(in); }) {}
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  void run() {
    const asio_driver driver(server_, context_);
    context_.run();
  }
  void stop() { server_.stop(); }

 private:
  boost::asio::io_context context_;
  server server_;
};

}  // namespace

int serve_inside(const std::string& flavour, const config& with, const std::string& requests,
                 const std::string& connections) {
  const int hint = flavour == "inside_unlocked" ? BOOST_ASIO_CONCURRENCY_HINT_UNSAFE : 1;
  return serve(inside_server(hint, with), requests, connections);
}

}  // namespace quintet::budget
