// SPDX-License-Identifier: BSL-1.0
// step5_slow: step 5 of the tutorial: queries that take long, and the pool that they may wait in.
#include "common/options.hpp"
#include "tutorial/wire.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace {

std::size_t primes_below(std::size_t end) {
  std::size_t count = 0;
  for (std::size_t n = 2; n < end; ++n) {
    std::size_t d = 2;
    while (d * d <= n && n % d != 0) ++d;
    if (d * d > n) ++count;
  }
  return count;
}

struct queries {
  void operator()(quintet::connection& c, quintet::bytes request) const {
    const quintet::bytes command = tutorial::take_word(request);
    if (command == "ping") return tutorial::reply(c, "pong");
    const auto number = tutorial::to_number(request, 1'000'000);
    if (number && command == "sleep") {  // waits, as for a disk
      std::this_thread::sleep_for(std::chrono::milliseconds(*number));
      return tutorial::reply(c, "slept");
    }
    if (number && command == "primes") return tutorial::reply(c, std::to_string(primes_below(*number)));
    tutorial::reply(c, "error: the queries are ping, sleep MS and primes END, numbers up to 1000000");
  }
  void on_overload(quintet::connection& c, quintet::bytes) const { tutorial::reply(c, "error: busy"); }
};

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7105"});
  example::command_line("step5_slow", "Step 5 of the tutorial: queries, some of which are slow.")
      .server(config)
      .try_it("  step5_slow --model reactor_pool &\n  tutorial_ask --beside 'sleep 1000' --time 7105 ping")
      .parse(argc, argv);
  try {
    quintet::server server(config, quintet::framed(tutorial::wire, queries()));
    example::serve("step5_slow", config, server);
  } catch (...) {
    return example::report_exception("step5_slow");
  }
}
