// SPDX-License-Identifier: BSL-1.0
// options.hpp: parses command-line values strictly. Errors say which values are allowed.
#pragma once

#include <quintet/net/options/loop_options.hpp>
#include <quintet/threadmodels/model.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::bench {

/// The user asked for something unknown or impossible: exit status 2, with the message as one line.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A server's address: "127.0.0.1:7007", "localhost:7007", "[::1]:7007"; or, if `path` is not empty, a Unix socket.
struct endpoint {
  std::string host = {};
  std::uint16_t port = 0;
  std::string path = {};       ///< "/run/echo.sock", or "@name" for an abstract address
  bool shared_memory = false;  ///< use the shared memory that the server offers at `path`
};

/// "1..4", or "4" for 4..4.
struct count_range {
  unsigned min = 1;
  unsigned max = 1;
};

using cpu_list = std::vector<unsigned>;

// The parsers throw usage_error.
std::uint64_t parse_number(std::string_view text, std::uint64_t min, std::uint64_t max);
/// "5", "0.5", "500ms", "200us", "2min"; without a unit: seconds.
std::chrono::nanoseconds parse_duration(std::string_view text);
std::size_t parse_size(std::string_view text, std::size_t min, std::size_t max);  ///< bytes: "512", "4k", "1m"
endpoint parse_endpoint(std::string_view text);                                   ///< HOST:PORT
endpoint parse_target(std::string_view text);                                     ///< HOST:PORT, unix:PATH or shm:PATH
std::string to_string(const endpoint& where);                                     ///< as parse_target() accepts it
cpu_list parse_cpus(std::string_view text);                     ///< "0", "0,2", "1-3": only CPUs this process may use
count_range parse_range(std::string_view text, unsigned most);  ///< up to `most`
quintet::model parse_model(std::string_view text);              ///< a name, or 1 to 5
engine_kind parse_engine(std::string_view text);                ///< an engine of this build

/// Returns the CPUs this process may run on, in ascending order.
cpu_list allowed_cpus();
/// Pins the calling thread, and threads it starts later, to these
/// CPUs. An empty list changes nothing. Throws std::system_error.
void pin_thread(const cpu_list& cpus);
/// Raises the soft limit of open files to the hard limit, because workloads use thousands of connections.
void raise_file_limit();
/// Returns the hard limit of open files, which raise_file_limit() can reach.
std::size_t most_files();
/// Sets the soft limit of open files. Throws usage_error if `most` exceeds the hard limit, and std::system_error.
void limit_files(std::size_t most);

}  // namespace quintet::bench
