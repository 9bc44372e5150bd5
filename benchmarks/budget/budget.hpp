// SPDX-License-Identifier: BSL-1.0
// budget: runs a server until its client, another process, has had its replies.
#pragma once

#include <quintet/threadmodels/server.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

namespace quintet::budget {

/// Runs this program again as the client, in a separate process that callgrind neither slows down nor counts.
bool client_succeeds(std::uint16_t port, std::string requests, std::string connections);

/// Returns the exit status.
template <class Server>
int serve(Server&& echo, const std::string& requests, const std::string& connections) {
  bool succeeded = false;
  std::thread client([&] {
    succeeded = client_succeeds(echo.port(), requests, connections);
    echo.stop();
  });
  echo.run();
  client.join();
  return succeeded ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// `flavour`: stream_callback or stream_awaits, on asio_stream; plain_callback or plain_awaits, of Asio alone. A source
/// of its own: what else is compiled with a handler changes what the compiler inlines.
int serve_asio_echo(const std::string& flavour, const config& with, const std::string& requests,
                    const std::string& connections);

/// The echo of a callback, by a server inside of an io_context. Returns the exit status.
int serve_inside(const config& with, const std::string& requests, const std::string& connections);

}  // namespace quintet::budget
