// SPDX-License-Identifier: BSL-1.0
// options: what the examples' command lines have in common. Wrong options end the program: exit status 2, one line.
#pragma once

#include <quintet/net/connector.hpp>
#include <quintet/threadmodels/server.hpp>

#include <chrono>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace example {

/// Where another server is: "127.0.0.1:6379", "[::1]:6379".
struct endpoint {
  std::string host, port;
};

/// A command line, parsed by CLI11, which is included by the source only: it takes six seconds to compile.
class command_line {
 public:
  command_line(std::string name, const std::string& description);
  ~command_line();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  /// --port, --address, --priority-port, --listen, each with the settings of the first listener that `into` has;
  /// --engine, --show-limits; and --model, --loops, --workers, --accept unless the model is fixed.
  command_line& server(quintet::config& into, bool with_model = true);
  command_line& number(const std::string& name, std::size_t& into, std::size_t min, std::size_t max,
                       const std::string& help);
  command_line& address(const std::string& name, endpoint& into, const std::string& help);
  command_line& optional_number(const std::string& name, std::optional<std::size_t>& into, std::size_t min,
                                std::size_t max, const std::string& help);
  command_line& text(const std::string& name, std::string& into, const std::string& help,
                     const std::string& placeholder);
  /// Once or several times: other servers, in any form that a client understands.
  command_line& destinations(const std::string& name, std::vector<quintet::destination>& into, const std::string& help);
  command_line& flag(const std::string& name, bool& into, const std::string& help);
  /// {"--loops", 'w'}: for options that are added after this; -w means the same.
  command_line& letters(std::map<std::string, char> all);
  /// Shown at the end of --help.
  command_line& try_it(const std::string& lines);

  /// Ends the program after --help (0) and after what is not allowed (2).
  void parse(int argc, const char* const* argv);

 private:
  struct parser;
  std::unique_ptr<parser> parser_;
};

/// Sets the limit, and lets the kernel wait no less: zero is no limit for both.
void set_send_timeout(quintet::config& of, std::chrono::seconds to);

/// Prints where the server listens, in one line that scripts can read: "echo: loop_per_thread, 127.0.0.1:7007". With
/// --show-limits a second line follows: "limits: first_byte_ms=30000 idle_ms=...".
void announce(const std::string& name, const quintet::config& c, bool with_model,
              const std::vector<quintet::address>& addresses);

/// How long clients may take to read their last replies after SIGINT or SIGTERM.
inline constexpr std::chrono::seconds drain_time{5};

/// Serves until SIGINT or SIGTERM, and then answers what it has received.
template <class Server>
void serve(const std::string& name, const quintet::config& c, Server& server, bool with_model = true) {
  const quintet::drain_on_signals drainer(server, drain_time);
  announce(name, c, with_model, server.addresses());
  server.run();
}

/// For the catch (...) of a main function: prints what is wrong, returns 2 for a configuration that cannot be (a port
/// in use included) and 1 for anything else.
[[nodiscard]] int report_exception(const char* name) noexcept;

}  // namespace example
