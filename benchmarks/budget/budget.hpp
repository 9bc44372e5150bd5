// SPDX-License-Identifier: BSL-1.0
// budget: runs a server until its client, another process, has had its replies.
#pragma once

#include <quintet/threadmodels/server.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

namespace quintet::budget {

/// Runs this program again as the client, in a separate process that callgrind neither slows down nor counts. `role`:
/// client, or websocket_client.
bool client_succeeds(std::uint16_t port, std::string requests, std::string connections, std::string role);

/// Returns the exit status.
template <class Server>
int serve(Server&& echo, const std::string& requests, const std::string& connections, const char* role = "client") {
  bool succeeded = false;
  std::thread client([&] {
    succeeded = client_succeeds(echo.port(), requests, connections, role);
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

/// The same for messages of 8 bytes by Beast: `flavour` is stream_websocket or plain_websocket.
int serve_beast_echo(const std::string& flavour, const config& with, const std::string& requests,
                     const std::string& connections);

/// The echo of a callback, by a server inside of an io_context: inside_callback, or inside_unlocked, where the
/// io_context takes no locks, as no other thread uses it. Returns the exit status.
int serve_inside(const std::string& flavour, const config& with, const std::string& requests,
                 const std::string& connections);

}  // namespace quintet::budget
