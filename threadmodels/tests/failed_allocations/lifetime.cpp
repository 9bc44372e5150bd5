// SPDX-License-Identifier: BSL-1.0
// lifetime: a server is made, runs, drains or stops while an allocation fails. Its constructor and run() may throw.
#include "scenario.hpp"

#include <quintet/net/stream.hpp>

#include <memory>
#include <thread>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

struct lifetime_callback {
  counted seen;
  void operator()(connection& c, bytes in) const { c.write(in); }
  void on_drain(connection& c) const { c.write("bye"); }
};
awaitable<> lifetime_coroutine(stream& s) {
  const counted seen;
  while (const auto in = co_await s.read()) s.write(*in);
  if (s.draining()) s.write("bye");
}

/// Returns how many of the two connections got no answer; 0 if the constructor or run() has thrown.
template <class Handler>
unsigned live(const config& c, Handler handler, injection& faults, bool drains) {
  using server_type = server;
  std::unique_ptr<server_type> srv;
  std::atomic<bool> has_run{false};
  unsigned lost = 0;
  faults.begin();
  if (succeeds([&] { srv = std::make_unique<server_type>(c, handler); })) {
    bool runs_well = false;
    std::thread runs([&] {
      runs_well = succeeds([&] { srv->run(); });
      has_run = true;
    });
    {
      peer a(srv->port(), 0, [&] { return has_run.load(); }), b(srv->port(), 0, [&] { return has_run.load(); });
      lost += !a.ask("hello", "hello");
      lost += !b.ask("hello", "hello");
      if (drains) srv->drain(10s);
      if (drains && a.expect("bye")) a.await_end();
      if (!drains) srv->stop();
    }
    runs.join();
    if (!runs_well) lost = 0;
  }
  succeeds([&] { srv.reset(); });
  faults.end();
  return lost;
}

unsigned run_lifetime(const surroundings& where, injection& faults) {
  return with_flavour(where, lifetime_callback(), &lifetime_coroutine,
                      [&](auto handler) { return live(config_for(where), handler, faults, true); });
}

/// The same with the threads, loops and tables that only options add.
unsigned run_options(const surroundings& where, injection& faults) {
  config c = config_for(where);
  c.listen.push_back({"127.0.0.1:0", {.priority = true}});
  c.advanced.accept = accept_strategy::reuse_port;
  c.accepting = {.max_connections = 100, .max_connections_per_address = 50, .accept_rate = 10'000};
  c.advanced.priority.scheduling = priority_scheduling::none;
  c.advanced.heartbeat = {.interval = 2ms, .ping_after = 1h, .ping = "ping", .evict_after = 2h};
  c.advanced.loop.static_output = 1U << 20U;
  c.limits = {.first_byte_timeout = 1h, .idle_timeout = 1h, .send_timeout = 1h, .message_timeout = 1h};
  c.advanced.stalls = {.bound = 1h, .on_stall = [](const stall&) {}};
  const bool balances = !where.under.is_coroutine() && c.threads.loops > 1 &&
                        (where.under.kind == model::loop_per_thread || where.under.kind == model::loop_per_thread_pool);
  if (balances) c.advanced.rebalance = {.factor = 1.5, .interval = 2ms};
  return with_flavour(where, lifetime_callback(), &lifetime_coroutine,
                      [&](auto handler) { return live(c, handler, faults, false); });
}

}  // namespace

const scenario lifetime_scenario{"lifetime", &run_lifetime};
const scenario options_scenario{"options", &run_options};

}  // namespace quintet::test
