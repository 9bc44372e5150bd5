// SPDX-License-Identifier: BSL-1.0
// options: the common command line of the examples. A wrong option ends the program with one line and exit status 2.
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

/// The address of another server: "127.0.0.1:6379", "[::1]:6379".
struct endpoint {
  std::string host, port;
};

/// A command line, parsed by CLI11. Only the source file includes CLI11, which takes six seconds to compile.
class command_line {
 public:
  command_line(std::string name, const std::string& description);
  ~command_line();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  /// Adds --port, --address, --priority-port, --listen, each with the settings of the first listener in `into`;
  /// --engine, --log, --show-limits; and, with a model, --model, --loops, --workers, --accept. parse() also sets
  /// `into.log`.
  command_line& server(quintet::config& into, bool with_model = true);
  command_line& number(const std::string& name, std::size_t& into, std::size_t min, std::size_t max,
                       const std::string& help);
  command_line& address(const std::string& name, endpoint& into, const std::string& help);
  command_line& optional_number(const std::string& name, std::optional<std::size_t>& into, std::size_t min,
                                std::size_t max, const std::string& help);
  command_line& text(const std::string& name, std::string& into, const std::string& help,
                     const std::string& placeholder);
  /// Adds an option that may be given several times: other servers, in any form that a client accepts.
  command_line& destinations(const std::string& name, std::vector<quintet::destination>& into, const std::string& help);
  command_line& flag(const std::string& name, bool& into, const std::string& help);
  /// Sets short names, for options added later: {"--loops", 'w'} makes -w the same as --loops.
  command_line& letters(std::map<std::string, char> all);
  /// Sets the lines at the end of --help.
  command_line& try_it(const std::string& lines);

  /// Parses. Ends the program after --help or --version (status 0) and after an error (status 2). From here on the
  /// program ignores SIGPIPE: a server survives the program that has read its log.
  void parse(int argc, const char* const* argv);
  /// Returns whether --debug was given to a server.
  [[nodiscard]] bool logs_debug() const;

 private:
  struct parser;
  std::unique_ptr<parser> parser_;
};

/// Sets send_timeout, and twice that as TCP_USER_TIMEOUT of each listener. Zero means no limit for both.
void set_send_timeout(quintet::config& of, std::chrono::seconds to);

/// Prints the server's addresses in one line that scripts can read: "echo: loop_per_thread, 127.0.0.1:7007".
/// With --show-limits a second line follows: "limits: first_byte_ms=30000 idle_ms=...".
void announce(const std::string& name, const quintet::config& c, bool with_model,
              const std::vector<quintet::address>& addresses);

/// The same in a line for each address: "listening on 127.0.0.1:5433", of a priority listener "priority on ...".
void announce_listeners(const quintet::config& c, const std::vector<quintet::address>& addresses);

/// The time for clients to read their last replies after SIGINT or SIGTERM.
inline constexpr std::chrono::seconds drain_time{5};

/// Runs the server, and announces it once its threads have started.
template <class Server>
void run(const std::string& name, const quintet::config& c, Server& server, bool with_model = true) {
  server.start();
  announce(name, c, with_model, server.addresses());
  server.main_loop().run();
  server.finish();
}

/// Serves until SIGINT or SIGTERM, then drains: answers received requests and returns.
template <class Server>
void serve(const std::string& name, const quintet::config& c, Server& server, bool with_model = true) {
  const quintet::drain_on_signals drainer(server, drain_time);
  run(name, c, server, with_model);
}

/// Prints the current exception, for the catch (...) of a main function. Returns 2 for a wrong configuration or a
/// system error, such as a port in use, and 1 for anything else.
[[nodiscard]] int report_exception(const char* name) noexcept;

}  // namespace example
