// SPDX-License-Identifier: BSL-1.0
// strict: all public headers, and a use of each template that a program cannot do without. Is compiled, and never run.
#include "all_headers.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

using postgresql = quintet::length_prefix<4, std::endian::big, 1, -4>;

struct lines {
  void operator()(quintet::connection& c, quintet::bytes message) const {
    (void)quintet::write_message(c, postgresql(), message);
  }
  void on_close(quintet::connection&, quintet::error_code) const {}
};

quintet::awaitable<> sums(quintet::stream& s);
quintet::awaitable<> sums(quintet::stream& s) {
  quintet::checked wire(quintet::varint_prefix{});
  while (const auto message = co_await s.read_message(wire)) {
    const std::size_t size = co_await s.offload([text = *message] { return text.size(); });
    if (quintet::write_message(s, wire, std::to_string(size))) co_return;
    co_await s.until_writable();
  }
}

void use(quintet::server& server);
void use(quintet::server& server) {
  quintet::stop_on_signals stopper(server);
  server.main_loop().post([] {});
  server.main_loop().after(std::chrono::seconds(1), [] {});
  server.attach(nullptr, -1, lines(), [](quintet::error_code) {});
  server.connections().post(quintet::connection_id(), [](quintet::connection& c) { c.close(); });
  if (server.statistics().workers.threads == 0) server.run();
}

int main() {
  quintet::server messages(quintet::config::public_defaults(), quintet::framed(postgresql(), lines()));
  quintet::server coroutines(quintet::config::session_defaults(), &sums);
  quintet::server made({}, quintet::handler_factory([](const quintet::connection_ends&) { return lines(); }));
  quintet::client client({}, quintet::framed(quintet::chunked(quintet::length_prefix<2>(), {}), lines()));
  quintet::server fixed({}, quintet::loop_per_thread_pool(2, {}), lines());
  quintet::testing::simulation world(1);
  quintet::server simulated({}, quintet::testing::simulated_model(world, 2, true), lines());
  for (quintet::server* server : {&messages, &coroutines, &made, &fixed, &simulated}) use(*server);
  client.run();
}
