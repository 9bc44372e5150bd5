// SPDX-License-Identifier: BSL-1.0
// options: strict parsing; every error message names the option and the allowed values.
#include "options.hpp"

#include "log_file.hpp"
#include "version.hpp"

#include <boost/system/system_error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace example {
namespace {

constexpr std::size_t most_threads = 1024;

bool shows_limits = false;  // --show-limits

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::size_t parse_number(std::string_view text, std::size_t min, std::size_t max) {
  const auto value = whole_number(text);
  if (value && *value >= min && *value <= max) return *value;
  throw usage_error("'" + std::string(text) + "' is not a whole number from " + std::to_string(min) + " to " +
                    std::to_string(max));
}

std::uint16_t parse_port(const std::string& text) { return static_cast<std::uint16_t>(parse_number(text, 0, 65535)); }

quintet::model parse_model(const std::string& text) {
  if (const auto m = quintet::from_string(text)) return *m;
  throw usage_error("'" + text +
                    "' is not a threading model; it must be 1 to 5 or one of: " + quintet::names_of<quintet::model>());
}

quintet::engine_kind parse_engine(const std::string& text) {
  const auto kind = quintet::from_string<quintet::engine_kind>(text);
  if (kind) return quintet::validate(*kind), *kind;
  throw usage_error("'" + text +
                    "' is not an engine; it must be one of: " + quintet::names_of(quintet::built_engines()));
}

quintet::accept_strategy parse_accept(const std::string& text) {
  if (const auto strategy = quintet::from_string<quintet::accept_strategy>(text)) return *strategy;
  throw usage_error("'" + text +
                    "' is not an accept strategy; it must be one of: " + quintet::names_of<quintet::accept_strategy>());
}

quintet::worker_limits parse_workers(const std::string& text) {
  const auto dots = text.find("..");
  const auto min = whole_number(text.substr(0, dots));
  const auto max = dots == text.npos ? min : whole_number(text.substr(dots + 2));
  if (min && max && *min <= *max && *max >= 1 && *max <= most_threads)
    return {static_cast<unsigned>(*min), static_cast<unsigned>(*max)};
  throw usage_error("'" + text + "' is not a number of threads; it must be MIN..MAX with 1 <= MIN <= MAX <= " +
                    std::to_string(most_threads) + ", or one number");
}

endpoint parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon != text.npos && colon > 0) {
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    const auto port = whole_number(text.substr(colon + 1));
    if (port && *port >= 1 && *port <= 65535) return {host, std::to_string(*port)};
  }
  throw usage_error("'" + text + "' is not HOST:PORT, such as 127.0.0.1:6379");
}

[[noreturn]] void refuse(const std::string& name, std::string why) {
  std::replace(why.begin(), why.end(), '\n', ' ');
  std::fprintf(stderr, "%s: %s\n", name.c_str(), why.c_str());
  std::exit(2);
}

}  // namespace

struct command_line::parser {
  parser(std::string program, const std::string& description) : name(std::move(program)), app(description, name) {
    add_version(app, name);
  }

  // Adds an option whose text parse() converts. The error message names the option.
  template <class T, class Parse>
  void add(const std::string& option, T& into, Parse parse, const std::string& help, const std::string& placeholder) {
    const auto assign = [option, &into, parse](const std::string& text) {
      try {
        into = parse(text);
      } catch (const usage_error& e) {
        throw usage_error(option + ": " + e.what());
      }
    };
    app.add_option_function<std::string>(names(option), assign, help)->type_name(placeholder);
    allow(option);
  }
  // Adds an option that may be given several times, each time with one value.
  void add_list(const std::string& option, std::vector<std::string>& into, const std::string& help,
                const std::string& placeholder) {
    app.add_option(names(option), into, help)->type_name(placeholder)->allow_extra_args(false);
    allow(option);
  }
  void allow(const std::string& option) { allowed += (allowed.empty() ? "" : ", ") + option; }
  // Returns the names in CLI11's form: "-w,--loops".
  [[nodiscard]] std::string names(const std::string& option) const {
    const auto found = letters.find(option);
    return found == letters.end() ? option : std::string("-") + found->second + "," + option;
  }

  // --port and --address together define the config's first listener; --listen replaces it.
  void add_listening(quintet::config& c) {
    config = &c;
    const quintet::address given(c.listen.front().at);
    host = given.host();
    port = given.port();
    const auto as_it_is = [](const std::string& s) { return s; };
    add("--port", port, parse_port, "port to listen on; 0: the system picks one [" + std::to_string(port) + "]", "N");
    add("--priority-port", priority_port, parse_port,
        "priority port, served by its own thread; 0: the system picks one [none]", "N");
    add("--address", host, as_it_is,
        "address to listen on, IPv4 or IPv6; 0.0.0.0: all IPv4 addresses of this machine [" + host + "]", "ADDRESS");
    add_list("--listen", listen, "address to listen on instead of --address and --port; also unix:/path; repeatable",
             "ADDRESS");
  }
  // Standard error gets only what an operator must see.
  void settle_log() const {
    using quintet::severity;
    if (config) config->log = open_log(log, debug ? severity::debug : log.empty() ? severity::warning : severity::info);
  }

  // Sockets opened by the parent process take precedence over the command line.
  void settle_listening() const {
    if (!config) return;
    if (auto inherited = quintet::inherited_listeners(); !inherited.empty()) {
      for (auto& l : inherited) l.socket = config->listen.front().socket;
      config->listen = std::move(inherited);
      return;
    }
    quintet::listener_settings settings = config->listen.front();
    config->listen.clear();
    for (const std::string& at : listen) config->listen.emplace_back(at, settings);
    if (listen.empty()) config->listen.emplace_back(quintet::join_address(host, port), settings);
    settings.priority = true;
    if (priority_port) config->listen.emplace_back(quintet::join_address(host, *priority_port), settings);
  }

  void settle_destinations() const {
    for (const auto& [option, texts, into] : other_servers) {
      into->clear();
      for (const std::string& text : *texts) try {
          into->emplace_back(text);
        } catch (const quintet::config_error& e) {
          throw usage_error(option + ": " + e.what());
        }
    }
  }

  struct named_destinations {
    std::string option;
    std::unique_ptr<std::vector<std::string>> texts;
    std::vector<quintet::destination>* into;
  };

  std::string name, allowed;
  std::map<std::string, char> letters;
  std::vector<named_destinations> other_servers;
  CLI::App app;
  quintet::config* config = nullptr;  // null without server()
  std::string host;
  std::uint16_t port = 0;
  std::optional<std::uint16_t> priority_port;
  std::vector<std::string> listen;
  std::string log;     // a file; empty: standard error
  bool debug = false;  // --debug
};

command_line::command_line(std::string name, const std::string& description)
    : parser_(std::make_unique<parser>(std::move(name), description)) {}
command_line::~command_line() = default;
bool command_line::logs_debug() const { return parser_->debug; }

command_line& command_line::server(quintet::config& c, bool with_model) {
  parser_->add_listening(c);
  parser_->add("--engine", c.engine, parse_engine,
               "I/O engine: epoll, asio or uring [" + std::string(to_string(c.engine)) + "]", "NAME");
  text("--log", parser_->log,
       "file for log events from severity info on; SIGHUP opens it again [standard error, only warnings and errors]",
       "FILE");
  flag("--debug", parser_->debug, "log also what is for debugging");
  flag("--show-limits", shows_limits, "print the time and byte limits of connections");
  if (!with_model) return *this;
  parser_->add("--model", c.model, parse_model,
               "threading model, by name or 1 to 5 [" + std::string(to_string(c.model)) + "]", "MODEL");
  const auto parse_loops = [](const std::string& s) { return static_cast<unsigned>(parse_number(s, 1, most_threads)); };
  parser_->add("--loops", c.threads.loops, parse_loops,
               "event loops of loop_per_thread and loop_per_thread_pool [" + std::to_string(c.threads.loops) + "]",
               "N");
  const auto parse_helpers = [](const std::string& s) {
    return static_cast<unsigned>(parse_number(s, 0, most_threads));
  };
  parser_->add(
      "--helpers", c.threads.helpers, parse_helpers,
      "threads for offload() in single_reactor and loop_per_thread [" + std::to_string(c.threads.helpers) + "]", "N");
  parser_->add("--workers", c.threads.workers, parse_workers,
               "worker threads: MAX in reactor_pool, MIN..MAX in loop_per_thread_pool, none in other models [" +
                   std::to_string(c.threads.workers.min) + ".." + std::to_string(c.threads.workers.max) + "]",
               "MIN..MAX");
  parser_->add("--accept", c.advanced.accept, parse_accept,
               "accept strategy: main_reactor, or on each loop: reuse_port, reuse_port_cpu, exclusive [" +
                   std::string(to_string(c.advanced.accept)) + "]",
               "NAME");
  return *this;
}

command_line& command_line::number(const std::string& name, std::size_t& into, std::size_t min, std::size_t max,
                                   const std::string& help) {
  parser_->add(
      name, into, [min, max](const std::string& s) { return parse_number(s, min, max); },
      help + " [" + std::to_string(into) + "]", "N");
  return *this;
}

command_line& command_line::address(const std::string& name, endpoint& into, const std::string& help) {
  parser_->add(name, into, parse_endpoint, help + " [" + into.host + ":" + into.port + "]", "HOST:PORT");
  return *this;
}

command_line& command_line::optional_number(const std::string& name, std::optional<std::size_t>& into, std::size_t min,
                                            std::size_t max, const std::string& help) {
  parser_->add(
      name, into, [min, max](const std::string& s) { return parse_number(s, min, max); }, help + " [none]", "N");
  return *this;
}

command_line& command_line::text(const std::string& name, std::string& into, const std::string& help,
                                 const std::string& placeholder) {
  parser_->add(name, into, [](const std::string& s) { return s; }, help, placeholder);
  return *this;
}

command_line& command_line::destinations(const std::string& name, std::vector<quintet::destination>& into,
                                         const std::string& help) {
  auto& added = parser_->other_servers.emplace_back(name, std::make_unique<std::vector<std::string>>(), &into);
  parser_->add_list(name, *added.texts, help, "HOST:PORT");
  return *this;
}

command_line& command_line::flag(const std::string& name, bool& into, const std::string& help) {
  parser_->app.add_flag(parser_->names(name), into, help);
  parser_->allow(name);
  return *this;
}

command_line& command_line::letters(std::map<std::string, char> all) {
  parser_->letters = std::move(all);
  return *this;
}

command_line& command_line::try_it(const std::string& lines) {
  parser_->app.footer("\nTry it:\n" + lines);
  return *this;
}

void command_line::parse(int argc, const char* const* argv) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  try {
    parser_->app.parse(argc, argv);
    parser_->settle_listening();
    parser_->settle_destinations();
    parser_->settle_log();
  } catch (const CLI::CallForHelp&) {
    std::fputs(parser_->app.help().c_str(), stdout);
    std::exit(0);
  } catch (const CLI::CallForVersion& e) {
    std::puts(e.what());
    std::exit(0);
  } catch (const CLI::ParseError& e) {
    refuse(parser_->name, std::string(e.what()) + " (allowed: " + parser_->allowed + ", --version, --help)");
  } catch (const usage_error& e) {
    refuse(parser_->name, e.what());
  } catch (const quintet::config_error& e) {
    refuse(parser_->name, e.what());
  }
}

void set_send_timeout(quintet::config& of, std::chrono::seconds to) {
  of.limits.send_timeout = to;
  for (quintet::listen_options& l : of.listen) {
    std::chrono::milliseconds& limit = l.socket.user_timeout;
    const std::chrono::milliseconds longest = quintet::socket_options::longest_user_timeout;
    limit = to == to.zero() ? limit.zero() : std::clamp<std::chrono::milliseconds>(2 * to, limit, longest);
  }
}

namespace {

std::string limits_of(const quintet::config& c) {
  std::string line = "limits:";
  const auto add = [&line](const char* name, std::size_t value) {
    line.append(" ").append(name).append("=").append(std::to_string(value));
  };
  const auto add_time = [&add](const char* name, quintet::duration d) {
    add(name, static_cast<std::size_t>(d / std::chrono::milliseconds(1)));
  };
  add_time("first_byte_ms", c.limits.first_byte_timeout);
  add_time("idle_ms", c.limits.idle_timeout);
  add_time("send_ms", c.limits.send_timeout);
  add_time("message_ms", c.limits.message_timeout);
  add("max_input", c.limits.max_input);
  add("max_output", c.limits.max_output);
  add("max_input_total", c.memory.max_input_total);
  add("max_output_total", c.memory.max_output_total);
  add("max_connections", c.accepting.max_connections);
  return line;
}

}  // namespace

void announce(const std::string& name, const quintet::config& c, bool with_model,
              const std::vector<quintet::address>& addresses) {
  std::string line = name + ":";
  if (with_model) line.append(" ").append(to_string(c.model)).append(",");
  for (std::size_t i = 0; i < addresses.size(); ++i)
    line.append(i > 0 ? ", " : " ").append(c.listen[i].priority ? "priority " : "").append(addresses[i].to_string());
  if (shows_limits) line.append("\n").append(limits_of(c));
  std::puts(line.c_str());
  std::fflush(stdout);
}

void announce_listeners(const quintet::config& c, const std::vector<quintet::address>& addresses) {
  for (std::size_t i = 0; i < addresses.size(); ++i)
    std::printf("%s on %s\n", c.listen[i].priority ? "priority" : "listening", addresses[i].to_string().c_str());
  if (shows_limits) std::puts(limits_of(c).c_str());
  std::fflush(stdout);
}

int report_exception(const char* name) noexcept {
  try {
    throw;
  } catch (const quintet::config_error& e) {
    std::fprintf(stderr, "%s: %s\n", name, e.what());
    return 2;
  } catch (const boost::system::system_error& e) {
    std::fprintf(stderr, "%s: %s\n", name, e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", name, e.what());
    return 1;
  }
}

}  // namespace example
