// SPDX-License-Identifier: BSL-1.0
// echo_client: sends lines to echo servers, checks each reply, and prints each second how many were right.
//
// Each request counts once: in the second in which its reply comes, or in which it is lost. So the seconds add up to
// the total, also with the requests that are in progress when a second ends, and when the program is told to end.
#include "common/options.hpp"
#include "common/tls_options.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr std::size_t longest_reply = 1024;
constexpr std::chrono::seconds patience = 5s;  // for a connection, and for a reply

struct tally {
  std::uint64_t ok = 0, failed = 0;
  std::string why = {};  // the last failure

  void add(const std::string& failure) {
    ++(failure.empty() ? ok : failed);
    if (!failure.empty()) why = failure;
  }
  void print(const std::string& when) const {
    const std::string reason = why.empty() ? "" : " (" + why + ")";
    std::puts((when + ": " + std::to_string(ok) + " ok, " + std::to_string(failed) + " failed" + reason).c_str());
    std::fflush(stdout);
  }
};

/// The requests of all connections. Only the client's loop uses it, so it needs no lock.
class requests {
 public:
  requests(std::uint64_t most, std::function<void()> on_finished) : most_(most), on_finished_(std::move(on_finished)) {}

  [[nodiscard]] bool may_begin() const { return !ending_ && (most_ == 0 || begun_ < most_); }
  /// Returns a line that no other request has, so that no other reply can be taken for this one's.
  std::string begin() {
    ++in_progress_;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return "request " + std::to_string(++begun_) + " at " + std::to_string(now.count()) + "\n";
  }
  /// `failure` is empty after the right reply.
  void finish(const std::string& failure) {
    --in_progress_;
    second_.add(failure);
    total_.add(failure);
    check();
  }
  /// Begins no further request. Those in progress are waited for.
  void end() {
    ending_ = true;
    check();
  }
  void end_second() { std::exchange(second_, {}).print("second " + std::to_string(++seconds_)); }
  /// Prints what the last second has so far, and the total. Returns the program's exit status.
  int report() {
    if (second_.ok + second_.failed > 0) end_second();
    total_.print("total");
    return total_.failed > 0 ? 1 : 0;
  }

 private:
  void check() {
    if (!may_begin() && in_progress_ == 0) on_finished_();
  }

  std::uint64_t most_, begun_ = 0, in_progress_ = 0, seconds_ = 0;
  bool ending_ = false;
  tally second_, total_;
  std::function<void()> on_finished_;
};

/// A connection, which has one request at a time.
struct asker {
  requests* all;
  std::chrono::milliseconds interval;

  quintet::awaitable<> operator()(quintet::stream& s) const {
    while (all->may_begin()) {
      const std::string request = all->begin();
      s.write(request);
      const auto reply = co_await s.read_until("\n", longest_reply);
      if (!reply) {
        all->finish(reply.error().message());
        s.close(reply.error());  // not close(): the client replaces only a connection that has failed
        co_return;
      }
      all->finish(*reply == request ? "" : "a reply was wrong");
      if (interval > 0ms && all->may_begin()) {
        boost::asio::steady_timer pause(s.get_executor(), interval);
        co_await pause.async_wait(boost::asio::deferred);  // throws when the client stops, which ends the coroutine
      }
    }
  }
};

struct options {
  std::vector<quintet::destination> servers;
  example::tls_trust trust;
  std::size_t connections = 1, count = 0, duration_s = 0, interval_ms = 0;
};

int run(const options& o) {
  std::function<void()> stop;
  requests all(o.count, [&stop] { stop(); });
  // An attempt to connect that fails counts as a request that has failed.
  const auto on_connect_failed = [&all](const quintet::connect_failure& f) {
    if (f.reason == quintet::errc::stopped || !all.may_begin()) return;
    all.begin();
    all.finish(f.reason.message());
  };
  quintet::client client({.connecting = {.timeout = patience, .tls = o.trust.context()},
                          .reconnect = quintet::reconnect_options{.cap = 1s},
                          .on_connect_failed = on_connect_failed,
                          .limits = {.idle_timeout = patience}},
                         asker{&all, std::chrono::milliseconds(o.interval_ms)});
  stop = [&client] { client.stop(); };
  const quintet::signal_guard ender(client.main_loop(), {SIGINT, SIGTERM}, [&all] { all.end(); });
  client.main_loop().every(1s, [&all] { all.end_second(); });
  if (o.duration_s > 0) client.main_loop().after(std::chrono::seconds(o.duration_s), [&all] { all.end(); });
  for (std::size_t i = 0; i < o.connections; ++i) client.connect(o.servers[i % o.servers.size()]);
  client.run();
  return all.report();
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  example::command_line line("echo_client",
                             "Sends lines to echo servers, checks the replies, and counts them each second.");
  o.trust.add_to(line);
  line.destinations("--server", o.servers, "an echo server; several: connections take them in turn [127.0.0.1:7007]")
      .number("--connections", o.connections, 1, 10'000, "connections, each with one request at a time")
      .number("--count", o.count, 0, 1'000'000'000'000, "requests of all connections together; 0: no limit")
      .number("--duration-s", o.duration_s, 0, 1'000'000, "seconds until the end; 0: no limit")
      .number("--interval-ms", o.interval_ms, 0, 60'000, "time between a reply and the next request, in milliseconds")
      .try_it("  echo &\n  echo_client --connections 10 --duration-s 3\n  echo_client    # Ctrl-C ends it")
      .parse(argc, argv);
  if (o.servers.empty()) o.servers.emplace_back("127.0.0.1:7007");
  try {
    return run(o);
  } catch (...) {
    return example::report_exception("echo_client");
  }
}
