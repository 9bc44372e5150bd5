// SPDX-License-Identifier: BSL-1.0
// time: a server that answers each line with its time, and a client in the same program that measures round trips.
#include "common/options.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

std::int64_t now_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

/// Answers each line with the time in nanoseconds since 1970.
struct time_server {
  void operator()(quintet::connection& c, quintet::bytes) const { c.write(std::to_string(now_ns()) + "\n"); }
};

struct pinger {
  std::size_t count = 5, interval_ms = 200;
  std::function<void()> done = {};

  quintet::awaitable<> operator()(quintet::stream& s) const {
    boost::asio::steady_timer pause(s.get_executor());
    std::vector<std::int64_t> round_trips;
    try {
      while (count == 0 || round_trips.size() < count) {
        if (!round_trips.empty()) {
          pause.expires_after(std::chrono::milliseconds(interval_ms));
          co_await pause.async_wait(boost::asio::deferred);
        }
        if (!co_await ask(s, round_trips)) break;
      }
    } catch (const boost::system::system_error&) {  // stopping the client has cut the pause short
    }
    report(round_trips);
    done();
  }

 private:
  static quintet::awaitable<bool> ask(quintet::stream& s, std::vector<std::int64_t>& round_trips) {
    const std::int64_t asked = now_ns();
    s.write("time?\n");
    const auto answer = co_await s.read_until("\n");
    if (!answer) co_return false;
    const std::int64_t took = now_ns() - asked;
    round_trips.push_back(took);
    const std::int64_t ahead =
        std::stoll(std::string(*answer)) - (asked + took / 2);  // if both ways took the same time
    std::printf("%zu: round trip %.3f ms, its clock is %+.3f ms ahead\n", round_trips.size(),
                static_cast<double>(took) / 1e6, static_cast<double>(ahead) / 1e6);
    std::fflush(stdout);
    co_return true;
  }
  static void report(std::vector<std::int64_t> all) {
    if (all.empty()) return;
    std::ranges::sort(all);
    std::printf("%zu answers, round trip: least %.3f ms, median %.3f ms, most %.3f ms\n", all.size(),
                static_cast<double>(all.front()) / 1e6, static_cast<double>(all[all.size() / 2]) / 1e6,
                static_cast<double>(all.back()) / 1e6);
  }
};

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7037"});
  pinger ping;
  example::command_line("time", "A server that tells the time, with a built-in client that measures round trips.")
      .server(config)
      .number("--count", ping.count, 0, 1'000'000'000, "questions to ask; 0: until Ctrl-C")
      .number("--interval-ms", ping.interval_ms, 0, 60'000,
              "time between an answer and the next question, in milliseconds")
      .try_it("  time --count 0          # Ctrl-C ends it\n  echo | nc 127.0.0.1 7037    # meanwhile")
      .parse(argc, argv);
  try {
    quintet::server server(config, quintet::framed(quintet::delimiter("\n", 256), time_server()));
    ping.done = [&server] { server.stop(); };
    quintet::client client({.model = config.model, .threads = config.threads}, ping);
    const quintet::stop_on_signals stopper(server);
    client.connect(server.addresses().front());
    client.run_in_background();
    example::run("time", config, server);
  } catch (...) {
    return example::report_exception("time");
  }
}
