// SPDX-License-Identifier: BSL-1.0
// merging.cpp: one run: a server that sends, and this thread, which receives.
#include "merging/merging.hpp"

#include "compare/child_process.hpp"
#include "compare/interruption.hpp"
#include "compare/scratch_file.hpp"
#include "compare/server_sample.hpp"
#include "load/clock.hpp"
#include "load/connect.hpp"
#include "piece_stream.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cstring>
#include <system_error>
#include <vector>

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;
using clock = child_process::clock;

constexpr auto patience = 15s;
constexpr auto warm_up = 100ms;
constexpr std::size_t request_bytes = 64;
constexpr std::uint32_t asked_at_once = 0xffffffff;

std::vector<std::string> command(const merging_settings& s, const sender& who, const placement& where,
                                 const std::string& counters) {
  std::vector<std::string> out{s.program,
                               "serve",
                               "--model",
                               s.model,
                               "--engine",
                               std::string(to_string(s.engine)),
                               "--workload",
                               "ask",
                               "--pieces",
                               fmt::format("{}..{}", who.sizes.min, who.sizes.max),
                               "--pin",
                               cpu_text(where.server),
                               "--loops",
                               "1",
                               "--json",
                               counters,
                               "--exit-with-parent"};
  if (s.static_output > 0) out.insert(out.end(), {"--static-output", std::to_string(s.static_output)});
  if (!who.merging) out.emplace_back("--no-merging");
  return out;
}

/// Pins this thread while it receives. The destructor restores its CPUs, for threads started later.
class pinned {
 public:
  explicit pinned(const cpu_list& to) : before_(allowed_cpus()) { pin_thread(to); }
  ~pinned() {
    try {
      pin_thread(before_);
    } catch (const std::system_error&) {  // the CPUs were withdrawn meanwhile
    }
  }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

 private:
  cpu_list before_;
};

/// Requests more before the requested bytes have all arrived.
class receiver {
 public:
  receiver(const socket_address& from, const piece_stream& expected)
      : expected_(expected), socket_(connect_blocking(from, 5000)), buffer_(256 * 1024, '\0') {
    if (!socket_) throw run_error(fmt::format("cannot connect: {}", std::strerror(errno)));
  }

  void receive_for(std::chrono::nanoseconds time) {
    const auto end = clock::now() + time;
    while (clock::now() < end) receive();
  }
  [[nodiscard]] std::uint64_t received() const { return received_; }

 private:
  void receive() {
    if (asked_ - received_ < asked_at_once / 2) ask();
    const ssize_t count = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (interruption_guard::happened()) throw interrupted();
    if (count == 0) throw run_error("the server has closed the connection");
    if (count < 0 && errno == EINTR) return;
    if (count < 0) throw run_error(fmt::format("cannot receive: {}", std::strerror(errno)));
    const auto arrived = std::string_view(buffer_).substr(0, static_cast<std::size_t>(count));
    if (!expected_.matches(received_, arrived)) throw run_error("the server sent other bytes than it was to");
    received_ += arrived.size();
  }
  void ask() {
    char request[request_bytes] = {};
    store_big_endian(request, asking_connection);
    store_big_endian(request + 4, asked_at_once);
    if (::send(socket_.get(), request, sizeof request, MSG_NOSIGNAL) != ssize_t{sizeof request})
      throw run_error(fmt::format("cannot ask: {}", std::strerror(errno)));
    asked_ += asked_at_once;
  }

  const piece_stream& expected_;
  unique_fd socket_;
  std::string buffer_;
  std::uint64_t asked_ = 0, received_ = 0;
};

}  // namespace

merging_result measure_merging(const merging_settings& s, const sender& who, const placement& where) {
  const piece_stream messages(who.sizes);
  const scratch_file counters("merging");
  child_process server("the server", command(s, who, where, counters.path()));
  const auto target = resolve(parse_endpoint(server.await_line("listening on ", clock::now() + patience)));
  merging_result out{.of = who};
  {
    const pinned here(where.client);
    receiver from(target, messages);
    from.receive_for(warm_up);
    const auto before = sample_server(server.pid());
    const double cpu_before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    const std::uint64_t received_before = from.received();
    from.receive_for(s.duration);
    const auto after = sample_server(server.pid());
    const double seconds = after.wall_s - before.wall_s, sender_s = after.cpu_s - before.cpu_s;
    out.bytes_per_s = static_cast<double>(from.received() - received_before) / seconds;
    out.messages_per_s = out.bytes_per_s / messages.mean_size();
    out.sender_cpu = sender_s / seconds;
    out.sender_cpu_us_per_message = out.sender_cpu * 1e6 / out.messages_per_s;
    out.receiver_cpu = (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_before) / seconds;
    out.sender_rss_bytes = after.rss_bytes;
  }
  server.stop();
  if (server.poll_status() != 0) throw run_error("after SIGTERM, the server " + server.ending());
  const auto counted = counters.figures("the server");
  const auto number = [&](const char* name) { return counted.at(name).to_number<double>(); };
  out.writes_per_message = number("sends") / (number("bytes_sent") / messages.mean_size());
  return out;
}

}  // namespace quintet::bench
