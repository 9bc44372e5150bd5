// SPDX-License-Identifier: BSL-1.0
// primes: README's coroutine: a login, then for each line a query that computes, and the rows that it has found.
#include "common/options.hpp"

#include <quintet/net/stream.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <vector>

namespace {

/// Returns the prime numbers below the number in the line, which counts as a million at most.
std::vector<std::size_t> primes_below(quintet::bytes line) {
  std::size_t end = 0;
  std::from_chars(line.data(), line.data() + line.size(), end);
  end = std::min<std::size_t>(end, 1'000'000);
  std::vector<std::size_t> found;
  std::vector<bool> composite(end);
  for (std::size_t n = 2; n < end; ++n) {
    if (composite[n]) continue;
    found.push_back(n);
    for (std::size_t multiple = n * n; multiple < end; multiple += n) composite[multiple] = true;
  }
  return found;
}

quintet::awaitable<> session(quintet::stream& s) {
  const auto name = co_await s.read_until("\n", 64);  // the login: at most 64 bytes
  if (!name) co_return;
  s.write("hello " + std::string(*name));
  while (const auto query = co_await s.read_until("\n", 4096)) {
    const auto primes = co_await s.offload([&] { return primes_below(*query); });
    for (const auto prime : primes) {
      s.write(std::to_string(prime) + "\n");
      const bool has_room = co_await s.until_writable();  // waits while the client does not read
      if (!has_room) co_return;                           // it is gone
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7008"});
  example::command_line("primes", "A coroutine: sends the prime numbers below the number in each line.")
      .server(config)
      .try_it("  primes --model loop_per_thread_pool &\n  printf 'ann\\n100\\n' | nc -q 1 127.0.0.1 7008")
      .parse(argc, argv);
  try {
    quintet::server server(config, session);
    example::serve("primes", config, server);
  } catch (...) {
    return example::report_exception("primes");
  }
}
