// SPDX-License-Identifier: BSL-1.0
// timed_lines: a server with time limits that answers lines, for tests that set the clock by hand.
#pragma once

#include "world.hpp"

#include <quintet/net/stream.hpp>

#include <string>
#include <vector>

namespace quintet::testing {

struct journal {
  std::vector<error_code> closed;
};

/// Answers the complete lines with the same lines. "forever" removes the limits; "big" is answered by 100,000 bytes.
struct lines {
  journal* log;
  std::size_t operator()(connection& c, bytes in) const {
    const std::size_t end = in.rfind('\n');
    if (end == bytes::npos) return 0;
    if (in.starts_with("forever")) c.set_limits({});
    if (in.starts_with("big"))
      c.write(std::string(100'000, 'b'));
    else
      c.write(in.substr(0, end + 1));
    return end + 1;
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

struct lines_coroutine {
  journal* log;
  awaitable<> operator()(stream& s) const {
    std::string rest;
    while (const auto in = co_await s.read()) {
      rest += *in;
      const std::size_t end = rest.rfind('\n');
      if (end == std::string::npos) continue;
      s.write(rest.substr(0, end + 1));
      rest.erase(0, end + 1);
    }
    log->closed.push_back(s.failure());
  }
};

template <class Handler = lines>
struct fixture {
  fixture(shape s, const connection_limits& l, std::uint64_t seed = 1)
      : w(seed, s, Handler{&log}, l), client(w.connect()) {}
  bool closed() { return w.statistics().closed > 0; }
  std::uint64_t open() { return w.statistics().opened - w.statistics().closed; }
  void check(errc why) {
    BOOST_TEST(closed());
    BOOST_TEST((log.closed == std::vector<error_code>{why}));
  }
  journal log;
  world<Handler> w;
  int client;
};

}  // namespace quintet::testing
